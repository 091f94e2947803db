/** The table of ssh's keywords: which of them ssh2 honours, ignores or refuses. */

/**
 * How a session by ssh2 treats a keyword. One is ignored only where it could allow more than ssh2 does, or concerns
 * nothing that rdpipe uses; one that asks for protection, or for another route, is honoured or refused by its name.
 */
export type Treatment = Honoured | Ignored | Refused;

interface Honoured {
  readonly honoured: string;
}

interface Ignored {
  readonly ignored: string;
}

/** Values in lower case that ask for nothing; with any other there is no connection. */
interface Refused {
  readonly refusedUnless: readonly string[];
}

/** By keyword as ssh_config(5) writes it; `ssh -G` prints the same in lower case. */
export const SSH_KEYWORDS: Readonly<Record<string, Treatment>> = {
  ...honoured('the way to the host', ['Host', 'HostName', 'User', 'Port', 'AddressFamily', 'BindAddress']),
  ...honoured('the way to the host', ['ProxyJump', 'ProxyCommand']),
  ...honoured('the lists that ssh2 offers, without what it lacks', ['KexAlgorithms', 'Ciphers', 'MACs']),
  ...honoured('the list that ssh2 offers, known keys first', ['HostKeyAlgorithms']),
  ...honoured('the check of the host key', ['UserKnownHostsFile', 'GlobalKnownHostsFile', 'HostKeyAlias']),
  ...honoured('the check of the host key: lists of keys, and KRLs', ['RevokedHostKeys']),
  ...honoured('the check of the host key, and which keys log in', ['RequiredRSASize', 'RSAMinSize']),
  ...honoured('which keys log in', ['PubkeyAcceptedAlgorithms', 'PubkeyAcceptedKeyTypes']),
  ...honoured('which keys log in', ['IdentityFile', 'IdentityAgent', 'IdentitiesOnly']),
  ...honoured('which methods log in', ['PubkeyAuthentication', 'PasswordAuthentication', 'PreferredAuthentications']),
  ...honoured('which methods log in', ['KbdInteractiveAuthentication', 'ChallengeResponseAuthentication']),
  ...honoured('how often, and whether, you are asked', ['NumberOfPasswordPrompts', 'BatchMode']),
  ...honoured('the environment of what runs there', ['SendEnv', 'SetEnv']),
  ...honoured('where no ssh reads the configuration', ['IgnoreUnknown']),

  ...ignored('an unknown key is refused whatever it says', [
    'StrictHostKeyChecking',
    'NoHostAuthenticationForLocalhost',
  ]),
  ...ignored('keys are known by known_hosts alone, which is less', ['VerifyHostKeyDNS']),
  ...ignored('nothing is ever added to known_hosts', ['UpdateHostKeys', 'HashKnownHosts']),
  ...ignored('certificates of hosts are not accepted', ['CASignatureAlgorithms']),
  ...ignored('hosts and Kerberos log no user in', ['HostbasedAuthentication', 'EnableSSHKeysign']),
  ...ignored('hosts and Kerberos log no user in', ['HostbasedAcceptedAlgorithms', 'HostbasedKeyTypes']),
  ...ignored('hosts and Kerberos log no user in', ['GSSAPIAuthentication', 'GSSAPIClientIdentity', 'GSSAPITrustDNS']),
  ...ignored('hosts and Kerberos log no user in', ['GSSAPIDelegateCredentials', 'GSSAPIRenewalForcesRekey']),
  ...ignored('the host key is checked all the same', ['GSSAPIKeyExchange', 'GSSAPIKexAlgorithms']),
  ...ignored('the host key is checked all the same', ['GSSAPIServerIdentity']),
  ...ignored('no key is added to an agent', ['AddKeysToAgent', 'UseKeychain']),
  ...ignored('the server chooses what it asks', ['KbdInteractiveDevices']),
  ...ignored('nothing is forwarded, whatever it says', ['ForwardAgent', 'ForwardX11', 'ForwardX11Timeout']),
  ...ignored('nothing is forwarded, whatever it says', ['ForwardX11Trusted', 'XAuthLocation', 'ClearAllForwardings']),
  ...ignored('nothing is forwarded, whatever it says', ['DynamicForward', 'LocalForward', 'RemoteForward']),
  ...ignored('nothing is forwarded, whatever it says', ['ExitOnForwardFailure', 'GatewayPorts', 'PermitRemoteOpen']),
  ...ignored('nothing is forwarded, whatever it says', ['StreamLocalBindMask', 'StreamLocalBindUnlink']),
  ...ignored('nothing is forwarded, whatever it says', ['Tunnel', 'TunnelDevice']),
  ...ignored('rdpipe alone says what runs, without a terminal', ['RemoteCommand', 'RequestTTY', 'LocalCommand']),
  ...ignored('rdpipe alone says what runs, without a terminal', ['PermitLocalCommand', 'SessionType', 'StdinNull']),
  ...ignored('rdpipe alone says what runs, without a terminal', ['EscapeChar', 'EnableEscapeCommandline']),
  ...ignored('rdpipe alone says what runs, without a terminal', ['ForkAfterAuthentication', 'ObscureKeystrokeTiming']),
  ...ignored('rdpipe has limits of its own', ['ConnectTimeout', 'ConnectionAttempts', 'TCPKeepAlive']),
  ...ignored('rdpipe has limits of its own', ['ServerAliveInterval', 'ServerAliveCountMax', 'ChannelTimeout']),
  ...ignored('ssh2 shares no connections', ['ControlMaster', 'ControlPath', 'ControlPersist']),
  ...ignored('it is for the eyes', ['LogLevel', 'LogVerbose', 'SyslogFacility', 'VisualHostKey', 'FingerprintHash']),
  ...ignored('it is for the eyes', ['WarnWeakCrypto']),
  ...ignored('it concerns neither who connects nor whom', ['Compression', 'CompressionLevel', 'IPQoS']),
  ...ignored('it concerns neither who connects nor whom', ['VersionAddendum']),
  ...ignored('ssh has resolved the name', ['CanonicalizeHostname', 'CanonicalDomains', 'CanonicalizeMaxDots']),
  ...ignored('ssh has resolved the name', ['CanonicalizeFallbackLocal', 'CanonicalizePermittedCNAMEs', 'Tag']),
  ...ignored('ssh itself has given it up', [
    'Protocol',
    'Cipher',
    'UsePrivilegedPort',
    'UseRoaming',
    'DSAAuthentication',
  ]),
  ...ignored('ssh itself has given it up', ['RSAAuthentication', 'RhostsRSAAuthentication', 'RhostsAuthentication']),

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
