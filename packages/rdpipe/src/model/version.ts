/** The version of rdpipe and all its parts: that of the package. */
import manifest from '../../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;
