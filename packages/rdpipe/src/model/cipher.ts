/** The names of ciphers that an agent reports, and how each protects a hop. */
export const CIPHERS = ['none', 'aes-256-gmac', 'poly1305', 'aes-256-gcm', 'chacha20-poly1305'] as const;

const MACS: readonly string[] = ['aes-256-gmac', 'poly1305'];

/** `mac`: not encrypted, but every change is detected. */
export function protectionOf(cipher: string): 'none' | 'mac' | 'seal' {
  if (cipher === 'none') return 'none';
  return MACS.includes(cipher) ? 'mac' : 'seal';
}

/** For people: `aes-256-gcm`, `authenticated`, `not encrypted`. */
export function cipherWords(cipher: string): string {
  return { none: 'not encrypted', mac: 'authenticated', seal: cipher }[protectionOf(cipher)];
}
