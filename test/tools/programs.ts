// SPDX-License-Identifier: Apache-2.0
// Other programs that use rdssh as their ssh: a script for each, and the bytes that must go over hops.

export interface Sizes {
  /** Number of small files in a tree. */
  readonly files: number;
  /** Size of the tree's large file. */
  readonly mib: number;
  /** Number of commands, for programs that run many. */
  readonly commands: number;
}

export const SMALL: Sizes = { files: 20, mib: 4, commands: 3 };
export const LARGE: Sizes = { files: 5000, mib: 300, commands: 100 };

export interface Use {
  readonly title: string;
  readonly tools: readonly string[];
  /**
   * Lines of bash, which print something or fail if the test fails. The directory `tree` is the source.
   */
  readonly script: string;
  /** How many times the script transfers the contents of the tree. */
  readonly times: number;
}

/** Programs work in the directory `t` of the host. */
export function uses({ files, mib, commands }: Sizes): readonly Use[] {
  const tree = `mkdir -p tree/sub && head -c ${mib}M /dev/urandom > tree/big
    for n in $(seq ${files}); do echo "file $n" > "tree/sub/$n"; done; ln -s big tree/link; touch 'tree/a  b'`;
  const use = (title: string, tools: readonly string[], times: number, script: string): Use => ({
    title,
    tools,
    times,
    script: `set -e; ${tree}\n${script}`,
  });
  return [
    use(
      'rsync, to a host and back, with --delete',
      ['rsync'],
      2,
      `rsync -a -e rdssh tree/ h1:$H1/t/; rsync -a -e rdssh h1:$H1/t/ back/
      rsync -ain --checksum --delete -e rdssh tree/ h1:$H1/t/; rsync -ain --checksum --delete tree/ back/
      rm tree/sub/1; echo changed > tree/sub/2; echo more >> tree/big
      rsync -a --delete -e rdssh tree/ h1:$H1/t/; rsync -ain --checksum --delete -e rdssh tree/ h1:$H1/t/`,
    ),
    use(
      'rsync -z',
      ['rsync'],
      1,
      'rsync -az -e rdssh tree/ h1:$H1/t/; rsync -ain --checksum --delete -e rdssh tree/ h1:$H1/t/',
    ),
    use(
      'git clone, fetch and push',
      ['git'],
      2,
      `export GIT_SSH_COMMAND=rdssh GIT_CONFIG_GLOBAL=$PWD/gitconfig
      git config --global user.name t; git config --global user.email t@t; git config --global init.defaultBranch main
      git init -q --bare $H1/t.git; git -C tree init -q; git -C tree add .; git -C tree commit -qm one
      git -C tree push -q h1:$H1/t.git main; git clone -q h1:$H1/t.git clone; diff -r -x .git tree clone
      echo two > clone/two; git -C clone add .; git -C clone commit -qm two; git -C clone push -q
      git -C tree pull -q h1:$H1/t.git main; diff -r -x .git tree clone
      test "$(git -C tree ls-remote -q h1:$H1/t.git main | cut -f1)" = "$(git -C clone rev-parse main)"`,
    ),
    use(
      'borg init, create, check and extract',
      ['borg'],
      2,
      `export BORG_RSH=rdssh BORG_REPO=ssh://h1$H1/t BORG_BASE_DIR=$PWD/borg BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes
      borg init -e none; borg create ::one tree; borg check; mkdir out; cd out; borg extract ::one
      diff -r ../tree tree; test $(borg list --short) = one`,
    ),
    use(
      'restic init, backup, check and restore',
      ['restic'],
      2,
      `export RESTIC_PASSWORD=x RESTIC_CACHE_DIR=$PWD/cache RESTIC_REPOSITORY=sftp:h1:$H1/t
      on() { restic -q -o sftp.command='rdssh h1 -s sftp' "$@"; }
      on init; on backup tree; on check --read-data; on restore latest --target out; diff -r tree out/tree`,
    ),
    use(
      'sftp',
      ['sftp'],
      2,
      `printf '%s\\n' "mkdir $H1/t" "cd $H1" 'put tree/big t/big' 'ls -l t' 'get t/big back' 'rename t/big t/more' > batch
      sftp -S rdssh -b batch h1 > listing; cmp tree/big back; cmp tree/big $H1/t/more`,
    ),
    use(
      'scp, by sftp and by its old protocol',
      ['scp'],
      3,
      `mkdir $H1/t; scp -S rdssh -r tree h1:$H1/t/one; diff -r tree $H1/t/one; scp -S rdssh h1:$H1/t/one/big back; cmp tree/big back
      scp -O -S rdssh -rp tree h1:$H1/t/two; diff -r tree $H1/t/two`,
    ),
    use(
      'GNU parallel',
      ['parallel'],
      0,
      `seq ${commands} | parallel --ssh rdssh -j 2 -S h1,h2 'echo {} $HOME' | sort -n > ran
      test $(wc -l < ran) = ${commands}; grep -q /h1$ ran
      cd tree/sub; parallel --ssh rdssh -S h1 --workdir $H1 --transfer --return {}.sum --cleanup 'md5sum {} > {}.sum' ::: 1 2
      md5sum --quiet -c 1.sum 2.sum`,
    ),
    use(
      'ansible',
      ['ansible'],
      1,
      `export ANSIBLE_SSH_EXECUTABLE=$(command -v rdssh) ANSIBLE_HOME=$PWD/ansible ANSIBLE_SSH_CONTROL_PATH_DIR=$PWD/cp
      export ANSIBLE_SSH_ARGS='-C -o ControlMaster=auto -o ControlPersist=1s' ANSIBLE_PIPELINING=True ANSIBLE_SSH_USETTY=False
      export ANSIBLE_SSH_TRANSFER_METHOD=piped ANSIBLE_PYTHON_INTERPRETER=$(command -v python3) ANSIBLE_NOCOLOR=1
      ansible all -i h1,h2, -m raw -a 'echo "on $HOME"' > raw; test $(grep -c '^on /' raw) = 2
      mkdir $H1/t; ansible all -i h1, -m copy -a "src=tree/big dest=$H1/t/big" > copied; cmp tree/big $H1/t/big
      ! ansible all -i h1, -m command -a 'sh -c "exit 3"' > failed; grep -q rc=3 failed`,
    ),
    use(
      'many small commands, as those of ansible',
      [],
      0,
      `o='-C -o ControlMaster=auto -o ControlPersist=60s -o KbdInteractiveAuthentication=no -o ConnectTimeout=10'
      for n in $(seq ${commands}); do
        rdssh $o -o 'ControlPath="'$PWD/cp'"' h1 '/bin/sh -c '"'"'echo ~ && sleep 0 && exit '$((n % 3))"'" >> ran || test $? = $((n % 3))
      done; test $(grep -c /h1$ ran) = ${commands}`,
    ),
  ];
}
