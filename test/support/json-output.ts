// SPDX-License-Identifier: Apache-2.0
// Parses output of --json and checks it with docs/json.schema.json, which must describe every field.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { ROOT } from './root.ts';

/** Names of definitions: rdpipe and rdcp, rdcp -n, rdpipe doctor, rdpipe bench, rdsend and rdrecv, rdrecv --serve. */
export type JsonOutput = 'run' | 'copyPlan' | 'doctor' | 'bench' | 'stream' | 'server';

interface Schema {
  readonly $id: string;
  readonly $defs: Readonly<Record<string, unknown>>;
}

export const JSON_SCHEMA: Schema = JSON.parse(readFileSync(join(ROOT, 'docs/json.schema.json'), 'utf8'));

/** The objects among the lines of a text. @throws if the schema does not completely describe one of them. */
export function jsonLines<Line extends object = Record<string, unknown>>(text: string, output: JsonOutput): Line[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => checked(JSON.parse(line), output));
}

/** The only object of a text. @throws like checked(). */
export function jsonObject<Value extends object>(text: string, output: JsonOutput): Value {
  return checked(JSON.parse(text) as Value, output);
}

/** Returns the object. @throws if the schema does not completely describe it. */
export function checked<Value extends object>(object: Value, output: JsonOutput): Value {
  const name = definitionOf(object, output);
  const isValid = validatorOf(name);
  if (isValid(object)) return object;
  const reasons = isValid.errors?.map(({ instancePath, message, params }) =>
    [`${name}${instancePath}`, message, JSON.stringify(params)].join(' '),
  );
  throw new Error(`docs/json.schema.json does not describe ${JSON.stringify(object)}:\n${reasons?.join('\n')}`);
}

/** The definition of the object's kind and event, if it exists: its errors are easier to read than the general ones. */
function definitionOf(object: object, output: JsonOutput): string {
  const { kind, event } = object as { readonly kind?: string; readonly event?: string };
  const name = [output, kind, event].filter((part) => part !== undefined).join('.');
  return name in JSON_SCHEMA.$defs ? name : output;
}

let ajv: Ajv2020;
const validators = new Map<string, ValidateFunction>();

function validatorOf(name: string): ValidateFunction {
  const { $id, $defs } = JSON_SCHEMA;
  ajv ??= new Ajv2020({ validateSchema: false, schemas: [{ $id, $defs: withoutOthers($defs) }] });
  const known = validators.get(name) ?? ajv.getSchema(`${$id}#/$defs/${name}`);
  if (known === undefined) throw new Error(`docs/json.schema.json has no ${name}`);
  validators.set(name, known);
  return known;
}

/** Disallows unlisted fields. The published schema allows them, because readers ignore fields of later versions. */
function withoutOthers<Value>(schema: Value): Value {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withoutOthers) as Value;
  const entries = Object.entries(schema).map(([key, value]) => [key, withoutOthers(value)]);
  const isObject = 'properties' in schema && 'type' in schema;
  return Object.fromEntries([...entries, ...(isObject ? [['additionalProperties', false]] : [])]);
}
