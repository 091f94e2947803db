/** A map whose keys never change; replacing a value does not copy the complete map. Immutable. */

/** Keeps the order of its entries. To replace one of a thousand values, about 60 array elements are copied. */
export class FixedMap<Key, Value> {
  readonly #places: ReadonlyMap<Key, number>;
  readonly #blocks: readonly (readonly Value[])[];

  private constructor(places: ReadonlyMap<Key, number>, blocks: readonly (readonly Value[])[]) {
    this.#places = places;
    this.#blocks = blocks;
  }

  static of<Key, Value>(entries: ReadonlyMap<Key, Value>): FixedMap<Key, Value> {
    const values = [...entries.values()];
    const starts = values.flatMap((_, index) => (index % BLOCK === 0 ? [index] : []));
    const places = new Map([...entries.keys()].map((key, index) => [key, index]));
    return new FixedMap(
      places,
      starts.map((start) => values.slice(start, start + BLOCK)),
    );
  }

  get(key: Key): Value | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#blocks[Math.floor(place / BLOCK)]?.[place % BLOCK];
  }

  /** Returns this map if it has no such key. */
  with(key: Key, value: Value): FixedMap<Key, Value> {
    const place = this.#places.get(key);
    if (place === undefined) return this;
    const number = Math.floor(place / BLOCK);
    const block = [...(this.#blocks[number] ?? [])];
    block[place % BLOCK] = value;
    const blocks = [...this.#blocks];
    blocks[number] = block;
    return new FixedMap(this.#places, blocks);
  }

  values(): readonly Value[] {
    return this.#blocks.flat();
  }
}

const BLOCK = 32;
