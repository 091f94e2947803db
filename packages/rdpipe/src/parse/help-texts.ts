/** The texts of help, without the lists of options. */

export const HEAD = `Usage: rdpipe [options] STAGE...
       rdpipe doctor [options] HOST...
       rdpipe bench [options] HOST HOST
       rdpipe demo
       rdpipe help [TOPIC]

Run commands on different hosts and pipe them together. The data goes directly
between the hosts; ssh only starts and controls the commands.

Each STAGE is [user@]host:COMMAND; sh runs COMMAND on that host. Leave the host
empty for this machine. The commands < FILE, > FILE and >> FILE read or write a
file. Put options before the first STAGE. Quote a COMMAND that contains spaces.

  echo hi | rdpipe h1:'tr a-z A-Z' h2:rev
  rdpipe h1:'zfs send tank/a@now' h2:'zfs recv tank/a'
`;

export const TAIL = `Exit status: 0 on success, otherwise that of the stage that failed first
(128+N if signal N killed it). 2: usage error. 124: --timeout expired.
125: rdpipe itself failed. 129, 130, 143: ended by HUP, INT, TERM.
`;

export const DOCTOR_HEAD = `Usage: rdpipe doctor [options] HOST...

Check each host and each pair of neighbours: ssh, agent, RDMA devices and
libraries, limits, MTU, kernel settings and firewalls. Send data for a second in
each direction over RDMA and TCP. Print the results, and a fix for each problem.
HOST is [user@]host, a list such as n[1-4], or : for this machine. A single HOST
is paired with this machine.

  rdpipe doctor h1 h2 h3
`;

export const DOCTOR_TAIL = `Exit status: 0 if no check failed (there may be warnings). 1: a check failed.
2: usage error. 125: rdpipe itself failed.
129, 130, 143: ended by HUP, INT, TERM.
`;

export const BENCH_HEAD = `Usage: rdpipe bench [options] HOST HOST

Measure streams from the first host to the second: over RDMA (if both support
it), unencrypted and encrypted TCP, and ssh. Every round uses each method once.
Print rates, CPU seconds per GiB at each end, and round-trip times.
HOST is [user@]host, or : for this machine.

  rdpipe bench h1 h2
`;

export const BENCH_TAIL = `Exit status: 0 on success. 2: usage error. 125: a method that should work
failed, or rdpipe itself failed. 129, 130, 143: ended by HUP, INT, TERM.
`;

export const COPY_HEAD = `Usage: rdcp [options] SRC... DST

Copy files and directories directly between hosts. SRC and DST are
[user@]host:PATH, a local PATH (./a:b for a name with a colon), rd://host/PATH
on an rdrecv --serve server, or - for standard input or output.
As with rsync, dir copies the directory into DST, dir/ its contents.

  rdcp -a h1:run7 h2:/data/          # to /data/run7; run again to resume
  rdcp -a --delete site/ h1,h2:site  # make site on h1 and h2 identical
`;

export const COPY_TAIL = `Exit status: 0 if all was copied. 23: some paths failed, all others were copied.
2: usage error. 124: --timeout expired. 125: rdcp failed. 129, 130, 143: signal.
`;

export const SSH_HEAD = `Usage: rdssh [--OPTION=VALUE]... [options of ssh] [user@]host COMMAND...

Run a command as 'ssh host command' does, for programs that let you choose their
ssh; its input and output travel over RDMA or TCP. Other command lines (a login,
-t, -D, ...) and hosts that cannot run rdpipe's programs are left to ssh.

  rsync -a -e rdssh src/ h1:dst/
  GIT_SSH_COMMAND=rdssh git clone h1:project.git
`;

export const SSH_TAIL = `Exit status: that of the command; 255 if a connection failed, as with ssh.
`;

export const TOOLS = `Programs that let you choose their ssh move their data over RDMA or TCP:

  rsync -a -e rdssh src/ h1:dst/
  GIT_SSH_COMMAND=rdssh git clone h1:project.git
                        permanent: git config --global core.sshCommand rdssh
  borg create --rsh rdssh h1:backup::{now} /home
                        or export BORG_RSH=rdssh
  restic -o sftp.command='rdssh h1 -s sftp' -r sftp:h1:backup backup /home
  sftp -S rdssh h1      also scp -S rdssh
  parallel --ssh rdssh -S h1,h2 'gzip -9' ::: *.log
  bzfs --ssh-program rdssh tank/a h1:tank/b
  ANSIBLE_SSH_EXECUTABLE=rdssh ANSIBLE_SSH_USETTY=False ansible all -m ping

TCP programs, without a change:

  rdssh -N -L 5432:localhost:5432 h1    then psql -h localhost

Options of rdpipe are written with '=': rsync -e 'rdssh --compress=zstd'.
Programs that find ssh in PATH (syncoid, nix, docker):
  PATH=/usr/lib/rdpipe/ssh:$PATH syncoid tank/a h1:tank/a
`;

export const DEMO = `Usage: rdpipe demo

Start two temporary hosts, h1 and h2, in this process and run two pipelines
between them: one prints IH, the other transfers 2 GiB. Nothing is left on disk.

Exit status: 0 on success, otherwise that of the pipeline that failed.
2: usage error.
`;

export const LIST_HEAD = `Usage: rdpipe help TOPIC

  echo hi | rdpipe h1:'tr a-z A-Z' h2:rev     # run a pipeline
  rdcp -a h1:run7 h2:/data/                   # copy files and directories

Topics:`;

export const LIST_TAIL = `For more, see the manual: man rdpipe, man rdcp.
`;

export const STAGES = `A stage is one word of the command line: [user@]host:COMMAND

  h1:date               a command without spaces needs no quotes
  h1:'tr a-z A-Z'       quotes keep your own shell from splitting the command
  h1:"ls $dir"          your shell expands $dir, before h1 sees the command
  h1:'ls "$dir"'        the shell on h1 expands $dir
  h1:'du -s * | sort'   any shell syntax works; --shell bash notices if du fails
  :'zstd -d'            run on this machine

A COMMAND that consists of one operator and one word reads or writes a file:

  h1:'< run7.h5'        send the file; names are relative to the home directory
  h1:'> run7.h5'        create the file once all data has arrived and is on disk
  h1:'>> all.log'       append; if the stream fails, truncate to the old length
  h1:'> "two words"'    the shell on h1 expands the name: quotes, ~, $VAR

Neighbours on the same host are connected by a local pipe. A stage in which a
shell would lose data, such as '< in | gzip', is rejected; start it with :; to
run it anyway.
`;

export const HOSTS = `A host is anything that ssh accepts: an alias from ~/.ssh/config, a host name or
an address.

  h1:date               log in as 'ssh h1' would
  ann@h1:date           log in as user ann
  [2001:db8::1]:date    use brackets around an IPv6 address
  :date                 run on this machine
  'n[1-8]!n3:date'      run on n1, n2 and n4 to n8; @NAME is a list of the
                        configuration file

The settings of ssh apply: keys, ports, jump hosts, ControlPath.
  -F FILE               use another configuration file
  -o Port=2222          set an option for all hosts
  --persist 600         keep connections open, so that the next run skips login

A host needs only Linux and a login: rdpipe copies its programs to
~/.cache/rdpipe there. Data goes directly from host to host:
  --data h2=10.0.0.2    the address at which other hosts reach h2
  -p 5000-5010          the ports that receivers listen on

rdpipe doctor h1 h2     find problems on and between these hosts
`;

export const LAUNCHERS = `rdpipe needs a shell on each host; ssh is one way to get it. --launcher LAUNCHER
selects another for all hosts, --launcher HOST=LAUNCHER for one:

  slurm             HOST is a node of your job (salloc, sbatch); all nodes share
                    one srun
  podman, docker    HOST is a container, USER@HOST a user in it
  kubectl           POD, NAMESPACE/POD or NAMESPACE/POD/CONTAINER
  lxc               HOST is an instance
  command:TEMPLATE  the command that starts a shell: %h is the host, %u the user
                    of USER@HOST, %% a percent sign

  salloc -w n1,n2 rdpipe --launcher slurm n1:'cat part' n2:'cat >/scratch/part'
  rdcp -r --launcher kubectl prod/db-0:/var/log logs
  rdpipe --launcher c1='command:ip netns exec c1 sh' c1:date :cat

Data does not go through the launcher, but directly from host to host.

rdpipe doctor --launcher podman c1 c2    find problems, also with RDMA there
`;

export const WITHOUT_SSH = `rdsend and rdrecv send one stream or directory to another machine without ssh.

  rdrecv 5000 > backup.tar      print a key, and the command for the sender
  tar c . | rdsend host 5000 KEY

  rdrecv 5000 KEY incoming/     receive a directory
  rdsend host 5000 KEY dir      send it

  rdrecv --serve /srv/data --keyfile key    serve files to many clients
  rdcp --keyfile key -r rd://host/run7 .    copy from that server

For their options, run rdsend --help and rdrecv --help, or read man rdsend and
man rdrecv.
`;

export const EXIT = `Exit status of rdpipe:
  0              every stage succeeded and all data was delivered
  1 to 255       the status of the stage that failed first; 128+N if signal N
                 killed it
  2              usage error; nothing was started
  124            --timeout expired
  125            rdpipe itself failed; the message names host and a next step
  129, 130, 143  ended by HUP, INT (Ctrl-C), TERM

A stage does not fail because its reader ends early, as with 'head'.
  --ok 1         treat status 1 as success in all stages; --ok 2=1: in stage 2
  --lenient      use the status of the last stage that failed, as in a shell
  --json         the last object contains the cause, which tells the status 2,
                 124 or 125 of a command from that of rdpipe

rdcp: 0: all was copied; 23: some paths failed; 2, 124, 125 as above.
doctor: 1: a check failed. bench: 125: a method that should work failed.
`;

export const CONFIG = `rdpipe and rdcp read defaults from $XDG_CONFIG_HOME/rdpipe/config.toml
(~/.config/rdpipe/config.toml if that is not set), or from --config FILE.
Keys are the names of long options, without the dashes:

  [defaults]
  limit = "200M"
  persist = 600
  verbose = 1
  poll = true

  [host.h1]
  data = "10.0.0.1"
  sudo = true
  shell = "bash"

Options on the command line override the file; --no-poll turns a switch off.
Options of a single run (dry-run, json, ok, size) cannot be set here. The file
and its directory must belong to you or root, and not be writable by others.
`;

export const ENVIRONMENT = `rdpipe and rdcp use these variables (defaults in parentheses):

  NO_COLOR           if set, print no colours
  TERM               if 'dumb', show no live status lines
  RDPIPE_NODE        node program that runs rdpipe (node or nodejs in PATH)
  RDPIPE_TAB_SECONDS time limit for completing paths on a host (2)
  XDG_CONFIG_HOME    directory of the configuration file (~/.config)
  XDG_RUNTIME_DIR    directory for ssh's sockets (/tmp; with --persist,
                     ~/.cache/rdpipe)
  TMPDIR             directory for rdcp's temporary files (/tmp)
  PATH               searched for ssh, unless --ssh-program is used
  SSH_AUTH_SOCK      socket of the ssh agent, as for ssh

Commands on other hosts get the environment that 'ssh host command' gives them:
of your variables, only those that SendEnv sends. Commands on this machine
inherit your environment.
`;

export const COMPLETION = `Tab completes options, values and hosts. After host:<, host:> and in rdcp,
remote paths are completed if a connection to the host is already open (your own
ControlMaster, or one from --persist). Completion never opens a connection.

Packages and 'make install' put the files where shells look for them. If yours
does not, as with another prefix, run once ($SHARE: the prefix's share/):

  bash   echo ". $SHARE/bash-completion/completions/rdpipe" >> ~/.bashrc
  zsh    fpath+=($SHARE/zsh/site-functions)    in ~/.zshrc, before compinit
  fish   for name in rdpipe rdcp
           ln -s $SHARE/fish/vendor_completions.d/$name.fish \\
             ~/.config/fish/completions/
         end

In a source tree, the files are in contrib/completion: rdpipe.bash, _rdpipe and
rdpipe.fish. zsh keeps a cache: run rm ~/.zcompdump* after an update.
`;
