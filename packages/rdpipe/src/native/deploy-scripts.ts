/** What is run on a host to take the agent in. POSIX, for any sh; `say` is remote-script's. */
import type { Bundle, BundleFile } from './bundle.ts';
import { dynamicSet, plainSet, quoteForSh, RIGHTNESS, type RunningSet, TRUST } from './places.ts';

/**
 * Makes a new directory in the place, takes the agent from standard input and tries it. Says the directory.
 * Another run may make the place at the same moment.
 */
export function acceptAgentScript(place: string, agent: BundleFile): string {
  return `umask 077
${TRUST}
${RIGHTNESS}
folder=
place=${place}
fail() { [ "$folder" ] && rm -rf -- "$folder"; say failed "\${place:-a place that is not set}: $*"; exit; }
[ "$place" ] || fail 'no such variable'
[ -d "$place" ] || reason=$({ mkdir -p -- "\${place%/*}" && mkdir -m 700 -- "$place"; } 2>&1) || [ -d "$place" ] || fail "$reason"
is_safe "$place" || fail "$reason"
folder=$place/new-$nonce
reason=$(mkdir -m 700 -- "$folder" 2>&1) || { bad=$reason folder= ; fail "$bad"; }
${acceptFile(agent)}
"$folder/${agent.name}" --version >/dev/null 2>&1
case $? in
  0) say ok "$folder" ;;
  126) fail 'programs may not run there (noexec?)' ;;
  *) fail 'the agent does not run there' ;;
esac`;
}

/** Takes one more file into the directory. */
export function acceptFileScript(folder: string, file: BundleFile): string {
  return `umask 077
${RIGHTNESS}
folder=${quoteForSh(folder)}
fail() { rm -rf -- "$folder"; say failed "\${folder%/*}: $*"; exit; }
${acceptFile(file)}
say ok`;
}

/**
 * Gives the complete directory its name. Somebody else may do the same at any moment: theirs is as good, and only one that was
 * seen to be bad is taken away.
 * Programs that use libraries of the host stay only where they run. Versions that nobody used for 30 days go.
 */
export function putInPlaceScript(place: string, folder: string, bundle: Bundle): string {
  return `${TRUST}
${RIGHTNESS}
${wholeness(bundle)}
place=${place}
folder=${quoteForSh(folder)}
version=$place/${bundle.digest}
for program in rdstage rdsend rdrecv; do
  [ -f "$folder/dynamic/$program" ] || continue
  "$folder/dynamic/$program" --version >/dev/null 2>&1 || rm -rf -- "$folder/dynamic"
done
(umask 077 && true >"$folder/used")
if [ -e "$version" ] && ! { is_safe "$place" "$version" && is_whole "$version"; }; then rm -rf -- "$version"; fi
[ -d "$version" ] || reason=$(mv -- "$folder" "$version" 2>&1)
rm -rf -- "$folder" "$version/\${folder##*/}"
for old in "$place"/*; do
  [ "$old" = "$version" ] || [ "$(find "$old" "$old/used" -prune ! -mtime +30 2>/dev/null)" ] || rm -rf -- "$old"
done
if is_whole "$version"; then say ok; else say failed "$version: $reason"; fi`;
}

/** Without a program that computes the digest, the size must do: ssh keeps the bytes from harm. */
function acceptFile({ name, bytes, sha256 }: BundleFile): string {
  return `file=$folder/${name}
mkdir -p -- "\${file%/*}"
if command -v gzip >/dev/null; then unpack='gzip -dc'; else unpack=cat; fi
say ready $unpack
reason=$($unpack 2>&1 >"$file") || fail "\${reason:-$unpack ended with status $?}"
chmod 700 "$file"
digest "$file"
case $sum in
  ${sha256}*) ;;
  '') [ "$(wc -c <"$file")" -eq ${bytes} ] || fail 'the copy is not whole' ;;
  *) fail 'the copy is not whole' ;;
esac`;
}

/** Defines `is_whole DIR`: the programs there that would run are the bundle's. */
function wholeness(bundle: Bundle): string {
  const dynamic = dynamicSet(bundle);
  return `is_whole() {
  if [ -e "$1/dynamic" ]; then
    [ ! -h "$1/dynamic" ] && ${dynamic === undefined ? 'false' : allRight(dynamic)}
  else
    ${allRight(plainSet(bundle))}
  fi
}`;
}

function allRight({ agent, others }: RunningSet): string {
  return [agent, ...others].map(({ name, sha256 }) => `is_right "$1/${name}" ${sha256}`).join(' && ');
}
