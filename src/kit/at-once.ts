/** Does the same to many, a few at a time. */

/** Goes on when one fails; when all are done, throws what went wrong first. */
export async function atMost<T>(
  limit: number,
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const errors: unknown[] = [];
  const takeTurns = async () => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      try {
        await work(next.value);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, takeTurns));
  if (errors.length > 0) throw errors[0];
}
