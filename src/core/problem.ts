/**
 * One problem in the settings. All problems are reported at once; none quotes a secret.
 * `path` is a variable's name (`OPENAI_BASE_URL`) or a place in the file (`providers[0].models[1].id`).
 */
export interface ConfigProblem {
  readonly path: string
  readonly message: string
}
