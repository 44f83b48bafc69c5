/** What is on its way, so that others who come for the same wait for it. */

export class Flights<T> {
  readonly #flights = new Map<string, Promise<T>>();

  get(place: string): Promise<T> | undefined {
    return this.#flights.get(place);
  }

  /** Until `landed` says that whoever comes next will find what it brought. */
  add(place: string, flight: Promise<T>, landed: (outcome: T) => Promise<void> | null): void {
    this.#flights.set(place, flight);
    const land = () => {
      if (this.#flights.get(place) === flight) this.#flights.delete(place);
    };
    void flight.then((outcome) => {
      const end = landed(outcome);
      return end === null ? land() : end.then(land);
    }, land);
  }

  /** Those who come from now on must not have it. Variants of a key begin with it. */
  forget(key: string): void {
    for (const place of this.#flights.keys()) {
      if (place === key || place.startsWith(`${key}\n`)) this.#flights.delete(place);
    }
  }

  /** What the flight brings, or that it takes too long. */
  static async within<T>(flight: Promise<T>, milliseconds: number): Promise<T | "late"> {
    const { promise: late, resolve } = Promise.withResolvers<"late">();
    const timer = setTimeout(resolve, milliseconds, "late");
    try {
      return await Promise.race([flight, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
