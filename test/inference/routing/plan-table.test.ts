import { describe, expect, test } from 'bun:test'
import { planned } from './plan-table.ts'

/**
 * Which endpoints serve a request, and in which order: `request | endpoints | order`, or the status and the rule of the
 * refusal. Endpoints are named by what they have; `plan-table.ts` says what each has, and what each word of a request
 * sets. They get dearer from left to right, and the request sorts by price. ` / ` separates models.
 */
const TABLE = `
# plain text goes everywhere, the cheapest first
hello                                     | text, other                  | text, other
hello                                     | text, sees, hears            | text, sees, hears
hello                                     | blank, text                  | blank, text
hello                                     | tiny, text                   | tiny, text
hello                                     | plain, json, claude          | plain, json, claude
hello                                     | toolless, regex              | toolless, regex
hello                                     | text / other                 | text, other
hello                                     | zdr, fp8                     | zdr, fp8
# images
image                                     | text, sees                   | sees
image                                     | sees, text                   | sees
image                                     | text, sees, reads            | sees, reads
image                                     | blank, sees                  | sees, blank
image                                     | text, blank                  | blank
image                                     | text, other                  | 404 input_modalities
image                                     | text                         | 404 input_modalities
image                                     | text / sees                  | sees
image                                     | text / other                 | 404 input_modalities
image                                     | text, hears / sees, blank    | sees, blank
image                                     | blank / sees                 | blank, sees
image                                     | hears, films, sees           | sees
png                                       | text, sees                   | sees
png                                       | text                         | 404 input_modalities
# the image of a tool's result is left out if no endpoint reads images
shot                                      | text, sees                   | sees
shot                                      | text                         | text
shot                                      | text, other                  | text, other
shot                                      | text, blank                  | blank
shot                                      | text / sees                  | sees
# audio
audio                                     | text, hears                  | hears
audio                                     | sees, hears, blank           | hears, blank
audio                                     | sees                         | 404 input_modalities
audio                                     | text, sees / hears           | hears
mp3                                       | text, hears                  | hears
mp3                                       | reads                        | 404 input_modalities
# video
video                                     | text, films                  | films
video                                     | sees, films                  | films
video                                     | hears, blank                 | blank
video                                     | sees, hears                  | 404 input_modalities
# files: lists of models that see often leave them out
pdf                                       | text, reads                  | reads
pdf                                       | sees, reads                  | reads, sees
pdf                                       | text, sees                   | sees
pdf                                       | text, hears                  | 404 input_modalities
pdf                                       | blank, reads                 | reads, blank
pdf                                       | text / reads                 | reads
unnamed                                   | text, reads                  | reads
unnamed                                   | text                         | 404 input_modalities
csv                                       | text, reads                  | text, reads
csv                                       | text                         | text
markdown                                  | text, sees                   | text, sees
# tools
tools                                     | plain, tooled                | tooled
tools                                     | tooled, plain                | tooled
tools                                     | plain                        | 404 tools
tools                                     | plain, json, thinks          | 404 tools
tools                                     | blank, tooled                | tooled, blank
tools                                     | plain, blank                 | blank
tools                                     | blank                        | blank
tools                                     | plain / tooled               | tooled
tools                                     | plain, json / tooled, text   | tooled, text
tools                                     | toolless, tooled             | tooled
tools                                     | toolless                     | toolless
tools                                     | toolless, plain              | toolless
tools                                     | toolless / tooled            | tooled
tools                                     | claude, plain                | claude
search                                    | plain, tooled                | plain, tooled
search                                    | plain                        | plain
# a forced choice of a tool
required                                  | tooled, forced               | forced
required                                  | tooled                       | tooled
required                                  | tooled, blank                | blank
required                                  | plain, tooled                | tooled
required                                  | plain                        | 404 tools
required                                  | tooled / forced              | forced
named                                     | tooled, forced               | forced
named                                     | plain, forced, tooled        | forced
named                                     | blank, forced                | forced, blank
# parallel calls: lists rarely name them
at_once                                   | forced, parallel             | parallel, forced
at_once                                   | forced                       | forced
at_once                                   | blank, parallel              | parallel, blank
at_once                                   | plain, parallel              | parallel
in_turn                                   | forced, parallel             | forced, parallel
# structured output
schema                                    | plain, schema                | schema
schema                                    | json, schema                 | schema
schema                                    | json                         | 404 structured_outputs
schema                                    | plain, tooled                | 404 structured_outputs
schema                                    | blank, schema                | schema, blank
schema                                    | json, blank                  | blank
schema                                    | json / schema                | schema
schema                                    | regex, schema                | schema
schema                                    | regex                        | 404 structured_outputs
schema                                    | claude                       | claude
schema                                    | claude, schema               | claude, schema
schema                                    | tooled                       | 404 structured_outputs
json                                      | plain, json                  | json
json                                      | plain, schema                | schema
json                                      | plain                        | plain
json                                      | json, schema                 | json, schema
json                                      | blank, json                  | json, blank
json                                      | plain / json                 | json
text                                      | plain, json                  | plain, json
# reasoning is a wish
effort high                               | plain, thinks                | thinks
effort high                               | effort, plain                | effort
effort high                               | plain                        | plain
effort high                               | plain, blank                 | blank
effort high                               | blank, thinks                | thinks, blank
effort high                               | plain / thinks               | thinks
effort none                               | plain, thinks                | plain, thinks
budget 1024                               | plain, thinks                | thinks
budget 1024                               | plain, json                  | plain, json
off                                       | plain, thinks                | plain, thinks
hide                                      | plain, thinks                | plain, thinks
# the length of the prompt: the estimate is rather too high
words 3000                                | tiny, text                   | text
words 3000                                | tiny                         | 400 context_length
words 3000                                | tiny / text                  | text
words 3000                                | tiny, blank                  | blank
words 3000                                | text, blank                  | text, blank
words 3000                                | blank, text                  | text, blank
words 3000                                | small, text                  | small, text
words 6000                                | small, text                  | text, small
words 6000                                | small                        | small
words 20000                               | small, text                  | text
words 20000                               | small                        | 400 context_length
words 20000                               | small, bare                  | 400 context_length
words 20000                               | small, tiny / long           | long
words 60000                               | text, long                   | text, long
words 100000                              | text, long                   | long, text
words 400000                              | text, long                   | long
words 400000                              | text                         | 400 context_length
words 400000, truncated                   | text                         | text
words 400000, truncated                   | text, long                   | long, text
words 20                                  | tiny, text                   | tiny, text
words 60                                  | tiny, text                   | text, tiny
words 100                                 | tiny, text                   | text
words 400000, beta context-1m-2025-08-07  | text                         | text
words 400000, beta context-1m-2025-08-07  | text, long                   | long, text
words 400000, beta output-128k-2025-02-19 | text                         | 400 context_length
# the output bound
max 2000                                  | tiny, text                   | text
max 2000                                  | small, text                  | text
max 16                                    | tiny, text                   | tiny, text
max 17                                    | tiny, text                   | text
max 2000                                  | tiny                         | 400 max_tokens
max 2000                                  | tiny, small                  | 400 max_tokens
max 2000                                  | tiny / text                  | text
max 2000                                  | blank, text                  | blank, text
max 8000                                  | blank, long                  | long, blank
max 8000                                  | text, long                   | long
max 8000                                  | bare, long                   | long, bare
max 9000                                  | bare, long                   | long
max 9000                                  | bare                         | 400 max_tokens
max 4096                                  | text                         | text
max 4097                                  | text                         | 400 max_tokens
max 4097                                  | text, blank                  | blank
max 64000                                 | text, small, long            | long
max 64001                                 | text, small, long            | 400 max_tokens
max 100000, beta output-128k-2025-02-19   | long                         | long
# Messages requires the field, so that it is a wish there
messages 32000                            | text                         | text
messages 32000                            | text, long                   | long
messages 32000                            | text, small                  | text, small
messages 32000                            | text / long                  | long
messages 16                               | tiny, text                   | tiny, text
# output
output image                              | text, paints                 | paints
output image                              | text                         | text
output audio                              | text, speaks                 | speaks
output audio                              | paints, speaks               | speaks
output audio                              | text / speaks                | speaks
output smell                              | text, speaks                 | text, speaks
hello                                     | embeds, text                 | text
hello                                     | embeds                       | 400 modality
hello                                     | embeds / text                | text
# several needs: an endpoint must have each of them
image, tools                              | sees, tooled                 | sees
image, max 9000                           | sees, long                   | 404 max_tokens
image, max 9000                           | sees, blank                  | blank
tools, schema                             | tooled, schema, text         | text
tools, schema                             | tooled, schema               | 404 structured_outputs
tools, effort high                        | tooled, thinks, text         | text
tools, effort high                        | tooled, thinks               | tooled
tools, effort high                        | tooled, plain / thinks, text | text
image, effort high                        | sees, text                   | sees
required, effort high                     | tooled, plain                | tooled
tools, max 2000                           | tiny, plain, text            | text
audio, tools                              | text, hears / sees           | hears
# only, ignore, order
only text                                 | text, other                  | text
only text+other                           | text, other, sees            | text, other
only other+nowhere                        | text, other                  | other
only nowhere                              | text, other                  | 404 allowed_providers
only text, image                          | text, sees                   | 404 input_modalities
only sees, image                          | text, sees                   | sees
ignore text                               | text, other                  | other
ignore text+other                         | text, other                  | 404 allowed_providers
ignore nowhere                            | text, other                  | text, other
ignore sees, image                        | text, sees                   | 404 input_modalities
order other                               | text, other                  | other, text
order nowhere+other                       | text, other                  | other, text
order nowhere                             | text, other                  | text, other
order blank, tools                        | text, blank                  | blank, text
order text, image                         | text, sees, reads            | sees, reads
order other, first                        | text, other                  | other
order nowhere, first                      | text, other                  | 404 allowed_providers
first                                     | text, other                  | text
first, image                              | text, sees, reads            | sees
first, tools                              | blank, tooled                | tooled
only text / other                         | text / other                 | text
ignore text                               | text / other                 | other
only text, zdr                            | text, zdr                    | 404 data_policy:zdr
# require_parameters makes unknown a no
require, tools                            | blank, tooled                | tooled
require, tools                            | blank                        | 404 require_parameters
require, tools                            | plain, blank                 | 404 require_parameters
require, set seed                         | text, seeded                 | seeded
require, set seed                         | blank, seeded                | seeded
require, set seed                         | text                         | 404 require_parameters
require, body top_k                       | text, seeded                 | 404 require_parameters
require, body seed                        | text, seeded                 | seeded
require, body min_p                       | blank                        | 404 require_parameters
require, set temperature                  | plain, json                  | plain
require, max 16                           | plain, thinks                | plain, thinks
require, max 16                           | json, plain                  | plain
require, schema                           | json, schema, text           | schema, text
require, json                             | plain, json, schema          | json, schema
require, effort high                      | plain, effort, thinks        | effort, thinks
require, image                            | blank, sees                  | sees
require, image                            | blank                        | 404 require_parameters
require, words 3000                       | blank, text                  | text, blank
require                                   | blank, plain                 | blank, plain
require, set seed                         | text / seeded                | seeded
# data, quantization, price, variants
zdr                                       | text, zdr                    | zdr
zdr                                       | text                         | 404 data_policy:zdr
deny                                      | text, zdr                    | zdr
zdr, image                                | sees, zdr                    | 404 input_modalities
runs fp8                                  | text, fp8, bf16              | fp8
runs fp8+bf16                             | text, fp8, bf16              | fp8, bf16
runs fp8+unknown                          | text, fp8, bf16              | text, fp8
runs int4                                 | fp8, bf16                    | 404 quantization
below 1                                   | text, other                  | text
below 0.5                                 | text, other                  | 404 max_price
below 2                                   | text, other, sees            | text, other
below 1, image                            | text, sees                   | 404 input_modalities
distill                                   | text, other                  | 404 distillable
variant free                              | text, free                   | free
variant free                              | text                         | 404 free
variant free, image                       | free                         | 404 input_modalities
hello                                     | unpriced, text               | text
hello                                     | unpriced                     | 400 none
runs fp8                                  | unpriced, text               | 404 quantization
# several models: together they are one list
together                                  | other / text                 | other, text
together, image                           | text, sees / reads           | sees, reads
together, tools                           | plain / tooled, blank        | tooled, blank
together, effort high                     | plain / json                 | plain, json
`

const rows = TABLE.split('\n').filter((line) => line.includes(' | '))

describe('the plan', () => {
  test('has at least 200 cases, each once', () => {
    expect(rows.length).toBeGreaterThanOrEqual(200)
    expect(new Set(rows.map((row) => row.split(' | ').slice(0, 2).join())).size).toBe(rows.length)
  })

  test.each(rows)('%s', (row) => {
    const [asked = '', offered = '', expected = ''] = row.split(' | ').map((cell) => cell.trim())
    expect(planned(asked, offered)).toBe(expected)
  })
})
