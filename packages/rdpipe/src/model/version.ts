/** The version of the whole product; package.json says the same. */
export const VERSION = '0.1.0';
