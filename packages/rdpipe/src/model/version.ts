/** The version of the whole product, the same as in package.json. */
export const VERSION = '0.1.0';
