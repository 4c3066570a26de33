/** Imported with `{ type: 'file' }`: the path of the file, inside the executable when built. */
declare module '*.json.gz' {
  const path: string
  export default path
}
