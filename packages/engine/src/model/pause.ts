/** A period without automatic captures. It ends by itself. */
export interface Pause {
  readonly since: number;
  readonly until: number;
}
