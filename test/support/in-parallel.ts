// SPDX-License-Identifier: Apache-2.0
// Runs asynchronous work for many items, a few at a time.

/** Performs all tasks, `most` at a time. At the end, throws one error that lists all failures with their names. */
export async function inParallel<Task>(
  tasks: readonly Task[],
  most: number,
  nameOf: (task: Task) => string,
  perform: (task: Task) => Promise<void>,
): Promise<void> {
  const failures: string[] = [];
  const waiting = tasks.values();
  const work = async (): Promise<void> => {
    for (const task of waiting)
      await perform(task).catch((error: unknown) => failures.push(`${nameOf(task)}: ${error}`));
  };
  await Promise.all(Array.from({ length: most }, work));
  if (failures.length > 0) throw new Error(`${failures.length} of ${tasks.length} failed:\n${failures.join('\n')}`);
}
