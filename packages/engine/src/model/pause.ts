/** A stretch of time in which nothing is captured by itself. It ends by itself. */
export interface Pause {
  readonly since: number;
  readonly until: number;
}
