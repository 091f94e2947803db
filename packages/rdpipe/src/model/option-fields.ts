/** Options as fields of JSON: for the ends of hops, and for the programs of a copy. */
import { OPTION_ROWS, type OPTIONS, type OptionName } from './options.ts';
import type { Settings } from './settings.ts';

type Table = typeof OPTIONS;
type Receiver = 'hop' | 'tree';

/** The name of the field in the row of an option; never: it has none. */
type FieldOf<Name extends OptionName, To extends Receiver> = Table[Name] extends { readonly [Key in To]: infer Field }
  ? Field
  : never;

type NameOf<To extends Receiver> = {
  [Name in OptionName]: FieldOf<Name, To> extends never ? never : Name;
}[OptionName] &
  keyof Settings;

/** A choice between `auto` and `off` is sent as a boolean. */
type Sent<Value> = Value extends string ? boolean : Value;

/** The settings that become fields. */
export type FieldSettings<To extends Receiver> = Pick<Settings, NameOf<To>>;

export type Fields<To extends Receiver> = {
  readonly [Name in NameOf<To> as FieldOf<Name, To> & string]: Sent<Settings[Name]>;
};

/** The options of the ends of a hop: fields of `open` (docs/protocol/hop-agent.md). */
export type HopOptions = Fields<'hop'>;

/** The rows with a field, in the order of the table. */
export function fieldRows<To extends Receiver>(to: To) {
  return OPTION_ROWS.flatMap(([name, row]) => {
    const field = row[to];
    return field === undefined ? [] : [{ name: name as NameOf<To>, field, row }];
  });
}

/** Absent: the setting is undefined. */
export function fieldsOf<To extends Receiver>(to: To, settings: FieldSettings<To>): Fields<To> {
  const fields = fieldRows(to).map(({ name, field }) => [field, sent(settings[name])] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Fields<To>;
}

function sent(value: unknown): unknown {
  return typeof value === 'string' ? value === 'auto' : value;
}
