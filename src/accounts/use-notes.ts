/** Notes when a credential was last used: a write a minute for each, not a write a request. */

/** Times of last use are kept to this many milliseconds. */
const GRAIN_MS = 60_000;
/** Credentials whose last note is remembered; past it a note may be written once more than needed. */
const MAX_NOTED = 100_000;

export interface UseNotesOptions {
  readonly write: (id: string, at: number) => Promise<unknown>;
  /** Hears when a note could not be kept; no request fails of it. */
  readonly onLost: (error: unknown) => void;
}

export class UseNotes implements AsyncDisposable {
  readonly #options: UseNotesOptions;
  readonly #notes = new Set<Promise<unknown>>();
  readonly #notedAt = new Map<string, number>();

  constructor(options: UseNotesOptions) {
    this.#options = options;
  }

  /** `before` is what the row says. */
  note(id: string, before: number | null, at: number): void {
    const noted = Math.max(before ?? 0, this.#notedAt.get(id) ?? 0);
    if (at - noted < GRAIN_MS) return;
    if (this.#notedAt.size >= MAX_NOTED) this.#notedAt.clear();
    this.#notedAt.set(id, at);
    const { write, onLost } = this.#options;
    const note = write(id, at)
      .catch(onLost)
      .finally(() => this.#notes.delete(note));
    this.#notes.add(note);
  }

  /** Waits for the notes that are under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#notes);
  }
}
