/** The texts of help, without lists of options. */

export const HEAD = `Usage: rdpipe [options] STAGE...
       rdpipe doctor [options] HOST...
       rdpipe bench [options] HOST HOST
       rdpipe demo
       rdpipe help [TOPIC]

Runs commands on hosts and joins them with pipes that run from host to host.
ssh carries control only; the data goes directly between the hosts.

STAGE is [user@]host:COMMAND, run by sh on that host; :COMMAND is this machine.
A COMMAND that is < FILE, > FILE or >> FILE reads or writes that file.
Options end at the first STAGE. Quote a COMMAND of several words.

  echo hi | rdpipe h1:'tr a-z A-Z' h2:rev
  rdpipe h1:'zfs send tank/a@now' h2:'zfs recv tank/a'
`;

export const TAIL = `Exit status: 0 success; the first failed stage's own, or 128 + its signal;
2 usage; 124 a time limit; 125 rdpipe itself failed; 129, 130, 143 signals.
`;

export const DOCTOR_HEAD = `Usage: rdpipe doctor [options] HOST...

Checks each host and each pair of neighbours: ssh, agent, RDMA devices and
libraries, limits, MTU, kernel settings, firewalls; moves data for a second each
way over RDMA and TCP; prints its findings, and a fix for each problem.
HOST is [user@]host; : is this machine, which joins a HOST that is alone.

  rdpipe doctor h1 h2 h3
`;

export const DOCTOR_TAIL = `Exit status: 0 no problem, perhaps warnings; 1 a check failed; 2 usage;
125 rdpipe itself failed; 129, 130, 143 signals.
`;

export const BENCH_HEAD = `Usage: rdpipe bench [options] HOST HOST

Measures streams from the first host to the second: over RDMA where both have
it, over TCP in clear and encrypted, and by ssh; in rounds of all of them.
Prints rates, CPU seconds per GiB at each end, and round trips.
HOST is [user@]host; : is this machine.

  rdpipe bench h1 h2
`;

export const BENCH_TAIL = `Exit status: 0 success; 2 usage; 125 a way failed that should work, or rdpipe
itself failed; 129, 130, 143 signals.
`;

export const COPY_HEAD = `Usage: rdcp [options] SRC... DST

Copies files and trees from host to host; ssh carries control only.
SRC and DST are [user@]host:PATH, PATH on this machine (./a:b where a : would
name a host), rd://host/PATH of rdrecv --serve, or - for standard input, output.
dir copies the directory into DST, dir/ its contents, as with rsync.

  rdcp -a h1:run7 h2:/data/          # /data/run7; again: what is missing
  rdcp -a --delete site/ h1,h2:site  # makes it the same as site, on both
`;

export const COPY_TAIL = `Exit status: 0 all copied; 23 some paths failed, each is named, all others are
copied; 2 usage; 124 a time limit; 125 rdcp failed; 129, 130, 143 signals.
`;

export const SSH_HEAD = `Usage: rdssh [--OPTION=VALUE]... [options of ssh] [user@]host COMMAND...

Runs a command as 'ssh host command' does, for programs that let one name their
ssh; its input and output go by the data plane. Other command lines (a login,
-t, -D, ...), and hosts where no program of rdpipe's can run, it leaves to ssh.

  rsync -a -e rdssh src/ h1:dst/
  GIT_SSH_COMMAND=rdssh git clone h1:project.git
`;

export const SSH_TAIL = `Exit status: the command's; 255 where a connection failed, as ssh's.
`;

export const DEMO = `Usage: rdpipe demo

Starts two throwaway hosts in this process, h1 and h2, and runs two pipelines
between them: it prints IH, and moves 2 GiB. Leaves nothing behind.

Exit status: 0 success; that of the first pipeline that failed; 2 usage.
`;

export const LIST_HEAD = `Usage: rdpipe help TOPIC

  echo hi | rdpipe h1:'tr a-z A-Z' h2:rev     # commands, joined by pipes
  rdcp -a h1:run7 h2:/data/                   # files and trees

Topics:`;

export const LIST_TAIL = `The manual has more: man rdpipe, man rdcp.
`;

export const STAGES = `A stage is one word of the command line: [user@]host:COMMAND

  h1:date               a command without blanks needs no quotes
  h1:'tr a-z A-Z'       your shell takes nothing in '...' for itself
  h1:"ls $dir"          ... and fills in $dir here, before h1 sees the command
  h1:'ls "$dir"'        h1's shell fills in $dir there
  h1:'du -s * | sort'   all that sh can do (--shell bash: a bad du counts)
  :'zstd -d'            on this machine

A COMMAND that is one operator and one word reads or writes a file:

  h1:'< run7.h5'        sends the file; a name is relative to the home directory
  h1:'> run7.h5'        appears when everything has arrived and is on the disk
  h1:'>> all.log'       appends, and is cut back when the stream ends badly
  h1:'> "two words"'    h1's shell reads the name: quotes, ~, $VAR

Neighbours on one host are joined by a local pipe. A stage that would lose data,
as '< in | gzip', is refused; a leading :; runs it all the same.
`;

export const HOSTS = `A host is what ssh accepts: an alias of ~/.ssh/config, a name, an address.

  h1:date               as 'ssh h1' would log in
  ann@h1:date           as user ann
  [2001:db8::1]:date    an IPv6 address, in brackets
  :date                 this machine

ssh's own settings hold: keys, ports, jump hosts, ControlPath.
  -F FILE               another configuration file
  -o Port=2222          an option for every host
  --persist 600         keep connections, so that the next run needs no login

A host needs Linux and a login, nothing else: programs that are missing are
copied to ~/.cache/rdpipe there. Data goes from host to host directly:
  --data h2=10.0.0.2    the address by which others reach h2's data
  -p 5000-5010          the ports on which the receiving ends listen

rdpipe doctor h1 h2     finds what is wrong between them
`;

export const WITHOUT_SSH = `rdsend and rdrecv move one stream or tree between two machines without ssh.

  rdrecv 5000 > backup.tar      prints a key, and the command for the other side
  tar c . | rdsend host 5000 KEY

  rdrecv 5000 KEY incoming/     a tree: rdsend host 5000 KEY folder
  rdrecv --serve /srv/data      serves copies: rdcp -r rd://host/run7 .

rdsend --help and rdrecv --help list their options, man rdsend and man rdrecv
describe them.
`;

export const EXIT = `Exit status of rdpipe:
  0              every stage succeeded, and every byte that was wanted arrived
  a stage's own  of the stage that failed first; 128 + N where signal N ended it
  2              usage: nothing was started
  124            a time limit
  125            rdpipe itself failed; the message has the host and a next step
  129, 130, 143  hung up, interrupted (Ctrl-C), terminated

A stage whose reader ends early, as before 'head', has not failed.
  --ok 1             takes 1 for success, of every stage; --ok 2=1 of the second
  --lenient          the rightmost stage that failed decides, as in a shell
  --json             its last object has the cause: a command's own 2, 124 or
                     125 is not taken for rdpipe's

rdcp: 0 all copied; 23 some paths failed, each is named; 2, 124, 125 as above.
doctor: 1 a check failed. bench: 125 a way failed that should work.
`;

export const CONFIG = `Defaults are read from $XDG_CONFIG_HOME/rdpipe/config.toml, which is
~/.config/rdpipe/config.toml where that is unset; --config FILE names another.
Keys are long options without --:

  [defaults]
  limit = "200M"
  persist = 600
  verbose = 1
  poll = true

  [host.h1]
  data = "10.0.0.1"
  sudo = true
  shell = "bash"

The command line wins; --no-poll takes a switch back. Options of a single run
(dry-run, json, ok, size) are no keys. The file and its directory must be yours
or root's, and no one else's to write.
`;

export const ENVIRONMENT = `Variables that rdpipe and rdcp read:

  NO_COLOR           no colours
  TERM               dumb: no rows that are drawn again
  RDPIPE_NODE        the node that runs rdpipe (node, nodejs in PATH)
  RDPIPE_TAB_SECONDS the longest that Tab waits for paths of a host (0.3)
  XDG_CONFIG_HOME    where the configuration file is (~/.config)
  XDG_RUNTIME_DIR    where sockets of ssh are, for a run and for --persist
                     (/tmp for a run; ~/.cache/rdpipe for --persist)
  TMPDIR             where rdcp keeps what is too long for memory
  PATH               where ssh is found, unless --ssh-program names it
  SSH_AUTH_SOCK      ssh's agent, as for ssh itself

Commands get the environment of 'ssh host command': nothing of yours but what
ssh's SendEnv sends. On this machine they have yours.
`;

export const COMPLETION = `Tab completes options, values and hosts; behind 'host:<', 'host:>' and in rdcp
paths on hosts, too, wherever a connection to the host stands: your own
ControlMaster's, or that of --persist. It never makes one.

Packages and 'make install' put the files where shells look. Where yours does
not, as with a prefix of your own, say once ($SHARE: share/ of that prefix):

  bash   echo ". $SHARE/bash-completion/completions/rdpipe" >> ~/.bashrc
  zsh    fpath+=($SHARE/zsh/site-functions)    in ~/.zshrc, before compinit
  fish   for name in rdpipe rdcp
           ln -s $SHARE/fish/vendor_completions.d/$name.fish \\
             ~/.config/fish/completions/
         end

In a checkout the files are in contrib/completion: rdpipe.bash, _rdpipe and
rdpipe.fish. zsh remembers what it found: rm ~/.zcompdump* after an update.
`;
