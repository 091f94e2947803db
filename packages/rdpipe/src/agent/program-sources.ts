/** Chooses where each host gets the programs: from this machine, or from a host that has them. */
import { unlessAborted } from '../session/abort.ts';

/** A host that gives the programs to others: open-offer. */
export interface Offer {
  /** The host as the user wrote it. */
  readonly label: string;
  readonly address: string;
  readonly port: number;
  readonly token: string;
  /** Idempotent. */
  close(): void;
}

/** `failed`: the host could not get the programs there. `lost`: the host itself was lost. */
export type Outcome = 'worked' | 'failed' | 'lost';

/** A host's turn to get the programs. */
export interface Turn {
  /** From which host; undefined: from this machine. */
  readonly offer: Offer | undefined;
  /** Must be called once. */
  end(outcome: Outcome): void;
}

export interface ProgramSources {
  /**
   * Resolves when it is the turn of a host that needs the bundle with this digest.
   * @throws the signal's reason.
   */
  take(digest: string, canFetch: boolean, signal: AbortSignal): Promise<Turn>;
  /** Adds a host that has the bundle. `open` is called when another host needs it; it may reject. */
  add(digest: string, open: () => Promise<Offer>): void;
}

/** The line of this machine is usually slower than the network of the hosts: only so many at the same time. */
const UPLOADS_MAX = 4;
/** The same when hosts get the programs from others: enough to continue if all of these hang. */
const MORE_UPLOADS_MAX = 1;
const FETCHES_MAX = 4;
/** Where hosts cannot reach each other, a fetch takes as long as the script allows: only so many until one worked. */
const TRIALS_MAX = 3;

interface Source {
  readonly open: () => Promise<Offer>;
  offer: Promise<Offer> | undefined;
  users: number;
  /** Unknown until a host has tried it: hosts may not reach each other. */
  isProven: boolean;
}

interface Waiting {
  readonly canFetch: boolean;
  readonly isGivenUp: () => boolean;
  readonly resolve: (turn: Turn) => void;
}

export function createProgramSources(): ProgramSources {
  const queues = new Map<string, Queue>();
  const queueOf = (digest: string): Queue => {
    const queue = queues.get(digest) ?? createQueue();
    queues.set(digest, queue);
    return queue;
  };
  return {
    take: (digest, canFetch, signal) => queueOf(digest).take(canFetch, signal),
    add: (digest, open) => queueOf(digest).add(open),
  };
}

interface Queue {
  take(canFetch: boolean, signal: AbortSignal): Promise<Turn>;
  add(open: () => Promise<Offer>): void;
}

/** Of the hosts that need the same bundle. Takes time in proportion to them: there may be a thousand. */
function createQueue(): Queue {
  let uploads = 0;
  let trialsLeft = TRIALS_MAX;
  let waiting: readonly Waiting[] = [];
  const sources = new Set<Source>();
  /** Those whose offer is open. */
  const offering = new Set<Source>();

  const serve = (): void => {
    // If one host has to wait, so have the others of its kind.
    const stuck = new Set<boolean>();
    const stays = (host: Waiting): boolean => {
      if (host.isGivenUp()) return false;
      if (!stuck.has(host.canFetch) && begin(host)) return false;
      stuck.add(host.canFetch);
      return true;
    };
    waiting = waiting.filter(stays);
    if (waiting.length === 0) for (const source of offering) if (source.users === 0) close(source);
  };
  const begin = (host: Waiting): boolean => {
    const best = host.canFetch ? bestOf(sources) : NO_SOURCE;
    if (best.proven !== undefined) fetchFrom(best.proven, host);
    else if (uploads < (best.isAided ? MORE_UPLOADS_MAX : UPLOADS_MAX)) upload(host);
    else if (best.untried !== undefined && trialsLeft > 0) fetchFrom(best.untried, host);
    else return false;
    return true;
  };
  const upload = (host: Waiting): void => {
    uploads += 1;
    const end = () => {
      uploads -= 1;
      serve();
    };
    host.resolve({ offer: undefined, end });
  };
  const fetchFrom = (source: Source, host: Waiting): void => {
    source.users += 1;
    source.offer ??= source.open();
    offering.add(source);
    trialsLeft -= 1;
    const end = (outcome: Outcome) => {
      source.users -= 1;
      source.isProven ||= outcome === 'worked';
      if (outcome === 'worked') trialsLeft = Number.POSITIVE_INFINITY;
      if (outcome === 'lost') trialsLeft += 1;
      if (outcome === 'failed') sources.delete(source);
      // Others may still get the programs there.
      if (source.users === 0 && !sources.has(source)) close(source);
      serve();
    };
    source.offer.then(
      (offer) => host.resolve({ offer, end }),
      () => {
        waiting = [host, ...waiting];
        end('failed');
      },
    );
  };
  const close = (source: Source): void => {
    offering.delete(source);
    source.offer?.then((offer) => offer.close()).catch(() => {});
    source.offer = undefined;
  };

  return {
    take(canFetch, signal) {
      const turn = new Promise<Turn>((resolve) => {
        waiting = [...waiting, { canFetch, isGivenUp: () => signal.aborted, resolve }];
        serve();
      });
      return unlessAborted(turn, signal);
    },
    add(open) {
      sources.add({ open, offer: undefined, users: 0, isProven: false });
      if (waiting.length > 0) serve();
    },
  };
}

interface Best {
  /** With the fewest users; undefined if all proven ones have enough. */
  readonly proven: Source | undefined;
  /** Its first user proves it. */
  readonly untried: Source | undefined;
  /** True if there is a proven one. */
  readonly isAided: boolean;
}

const NO_SOURCE: Best = { proven: undefined, untried: undefined, isAided: false };

function bestOf(sources: ReadonlySet<Source>): Best {
  let { proven, untried, isAided } = NO_SOURCE;
  for (const source of sources) {
    if (source.isProven) {
      isAided = true;
      if (source.users < (proven?.users ?? FETCHES_MAX)) proven = source;
    } else if (source.users === 0) untried ??= source;
  }
  return { proven, untried, isAided };
}
