/** The table of ssh's keywords: which of them ssh2 honours, ignores or refuses. */

/**
 * How a session of ssh2 treats a keyword. A keyword is ignored only if it could permit more than ssh2 does, or if it
 * affects nothing that rdpipe uses. A keyword that requests protection, or another route, is honoured, or refused with
 * a message that names it.
 */
export type Treatment = Honoured | Ignored | Refused;

interface Honoured {
  readonly honoured: string;
}

interface Ignored {
  readonly ignored: string;
}

/** Values in lower case that request nothing; with any other value no connection is opened. */
interface Refused {
  readonly refusedUnless: readonly string[];
}

/** By keyword as ssh_config(5) writes it; `ssh -G` prints keywords in lower case. */
export const SSH_KEYWORDS: Readonly<Record<string, Treatment>> = {
  ...honoured('how the host is reached', ['Host', 'HostName', 'User', 'Port', 'AddressFamily', 'BindAddress']),
  ...honoured('how the host is reached', ['ProxyJump', 'ProxyCommand']),
  ...honoured('the lists that ssh2 offers, without algorithms that it lacks', ['KexAlgorithms', 'Ciphers', 'MACs']),
  ...honoured('the list that ssh2 offers, known keys first', ['HostKeyAlgorithms']),
  ...honoured('the check of the host key', ['UserKnownHostsFile', 'GlobalKnownHostsFile', 'HostKeyAlias']),
  ...honoured('the check of the host key: lists of keys, and KRLs', ['RevokedHostKeys']),
  ...honoured('the check of the host key, and which keys log in', ['RequiredRSASize', 'RSAMinSize']),
  ...honoured('which keys log in', ['PubkeyAcceptedAlgorithms', 'PubkeyAcceptedKeyTypes']),
  ...honoured('which keys log in', ['IdentityFile', 'IdentityAgent', 'IdentitiesOnly']),
  ...honoured('which methods log in', ['PubkeyAuthentication', 'PasswordAuthentication', 'PreferredAuthentications']),
  ...honoured('which methods log in', ['KbdInteractiveAuthentication', 'ChallengeResponseAuthentication']),
  ...honoured('whether and how often the user is asked', ['NumberOfPasswordPrompts', 'BatchMode']),
  ...honoured('the environment of commands there', ['SendEnv', 'SetEnv']),
  ...honoured('if no ssh reads the configuration', ['IgnoreUnknown']),

  ...ignored('an unknown key is always refused', ['StrictHostKeyChecking', 'NoHostAuthenticationForLocalhost']),
  ...ignored('only keys in known_hosts are accepted, which is stricter', ['VerifyHostKeyDNS']),
  ...ignored('nothing is ever added to known_hosts', ['UpdateHostKeys', 'HashKnownHosts']),
  ...ignored('certificates of hosts are not accepted', ['CASignatureAlgorithms']),
  ...ignored('host-based and Kerberos logins are not used', ['HostbasedAuthentication', 'EnableSSHKeysign']),
  ...ignored('host-based and Kerberos logins are not used', ['HostbasedAcceptedAlgorithms', 'HostbasedKeyTypes']),
  ...ignored('host-based and Kerberos logins are not used', [
    'GSSAPIAuthentication',
    'GSSAPIClientIdentity',
    'GSSAPITrustDNS',
  ]),
  ...ignored('host-based and Kerberos logins are not used', ['GSSAPIDelegateCredentials', 'GSSAPIRenewalForcesRekey']),
  ...ignored('the host key is always checked', ['GSSAPIKeyExchange', 'GSSAPIKexAlgorithms']),
  ...ignored('the host key is always checked', ['GSSAPIServerIdentity']),
  ...ignored('no key is added to an agent', ['AddKeysToAgent', 'UseKeychain']),
  ...ignored('the server chooses its questions', ['KbdInteractiveDevices']),
  ...ignored('nothing is ever forwarded', ['ForwardAgent', 'ForwardX11', 'ForwardX11Timeout']),
  ...ignored('nothing is ever forwarded', ['ForwardX11Trusted', 'XAuthLocation', 'ClearAllForwardings']),
  ...ignored('nothing is ever forwarded', ['DynamicForward', 'LocalForward', 'RemoteForward']),
  ...ignored('nothing is ever forwarded', ['ExitOnForwardFailure', 'GatewayPorts', 'PermitRemoteOpen']),
  ...ignored('nothing is ever forwarded', ['StreamLocalBindMask', 'StreamLocalBindUnlink']),
  ...ignored('nothing is ever forwarded', ['Tunnel', 'TunnelDevice']),
  ...ignored('only rdpipe chooses what runs, without a terminal', ['RemoteCommand', 'RequestTTY', 'LocalCommand']),
  ...ignored('only rdpipe chooses what runs, without a terminal', ['PermitLocalCommand', 'SessionType', 'StdinNull']),
  ...ignored('only rdpipe chooses what runs, without a terminal', ['EscapeChar', 'EnableEscapeCommandline']),
  ...ignored('only rdpipe chooses what runs, without a terminal', [
    'ForkAfterAuthentication',
    'ObscureKeystrokeTiming',
  ]),
  ...ignored('rdpipe has its own limits', ['ConnectTimeout', 'ConnectionAttempts', 'TCPKeepAlive']),
  ...ignored('rdpipe has its own limits', ['ServerAliveInterval', 'ServerAliveCountMax', 'ChannelTimeout']),
  ...ignored('ssh2 shares no connections', ['ControlMaster', 'ControlPath', 'ControlPersist']),
  ...ignored('it only changes what is shown', [
    'LogLevel',
    'LogVerbose',
    'SyslogFacility',
    'VisualHostKey',
    'FingerprintHash',
  ]),
  ...ignored('it only changes what is shown', ['WarnWeakCrypto']),
  ...ignored('it affects neither login nor security', ['Compression', 'CompressionLevel', 'IPQoS']),
  ...ignored('it affects neither login nor security', ['VersionAddendum']),
  ...ignored('ssh has resolved the name', ['CanonicalizeHostname', 'CanonicalDomains', 'CanonicalizeMaxDots']),
  ...ignored('ssh has resolved the name', ['CanonicalizeFallbackLocal', 'CanonicalizePermittedCNAMEs', 'Tag']),
  ...ignored('ssh itself no longer supports it', [
    'Protocol',
    'Cipher',
    'UsePrivilegedPort',
    'UseRoaming',
    'DSAAuthentication',
  ]),
  ...ignored('ssh itself no longer supports it', [
    'RSAAuthentication',
    'RhostsRSAAuthentication',
    'RhostsAuthentication',
  ]),

  ...refused(['no', 'false'], ['CheckHostIP', 'ProxyUseFdpass']),
  ...refused(['', 'none'], ['KnownHostsCommand', 'PKCS11Provider', 'SmartcardDevice', 'CertificateFile']),
  ...refused(['', 'none', 'internal', '$ssh_sk_provider'], ['SecurityKeyProvider']),
  ...refused(['', 'none'], ['BindInterface', 'RefuseConnection']),
  ...refused(['0 0', 'default', 'default none', 'none'], ['RekeyLimit']),
};

function honoured(how: string, keywords: readonly string[]): Record<string, Treatment> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, { honoured: how }]));
}

function ignored(why: string, keywords: readonly string[]): Record<string, Treatment> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, { ignored: why }]));
}

function refused(values: readonly string[], keywords: readonly string[]): Record<string, Treatment> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, { refusedUnless: values }]));
}
