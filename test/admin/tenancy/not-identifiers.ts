/** What looks like an identifier in the API document and names nothing that anybody owns; each with the reason. */
export const notIdentifiers: readonly (readonly [operation: RegExp, at: RegExp, why: string])[] = [
  [/^get \/models?\//, /^path (author|slug)$/, 'a model of the catalogue: the same for everybody'],
  [/^get \/models\/\{id\}$/, /^path id$/, 'a model of the catalogue: the same for everybody'],
  [/^post \/models\/\{model\}:/, /^path model$/, 'a model of the catalogue: the same for everybody'],
  [/^get \/images\/models\//, /^path (author|slug)$/, 'a model of the catalogue: the same for everybody'],
  [/\/budgets\/\{interval\}$/, /^path interval$/, 'one of four words'],
  [/\/versions\/\{version\}$/, /^path version$/, 'counts within the preset that the slug names'],
  [/^post /, /^body session_id$/, 'what the caller calls a conversation'],
  [/^put \/models\/overrides$/, /^body id$/, 'a model of the catalogue'],
  [
    /^post \/presets\/\{slug\}\/responses$/,
    /^body previous_response_id$/,
    'a field of one request: a preset does not store it',
  ],
  [/^(post|patch) \/workspaces/, /^body slug$/, 'the slug that the workspace gets'],
  [/^(post|patch) \/providers\/entries/, /^body slug$/, 'the slug that the provider gets'],
  [/^get /, /^query cursor$/, 'a place in a list; tested below and in lists.test.ts'],
  [/input_items$/, /^query after$/, 'a place in the list of the response that the path names'],
  [/^delete \/auth\/sessions/, /^path id$/, 'a session of the person who asks; tested below'],
]
