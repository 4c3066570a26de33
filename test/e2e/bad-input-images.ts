import {
  blocks,
  chatParts,
  imageBlock,
  itemCall,
  itemParts,
  items,
  PDF,
  PNG_OF,
  type Row,
  row,
  WORDS,
} from './bad-input-rows.ts'

/** Requests with images and files that each API rejects. */

export const IMAGES: readonly Row[] = [
  row(
    'words',
    '/chat/completions',
    chatParts({ type: 'text', text: 'See' }, { type: 'image_url', image_url: { url: PNG_OF(WORDS) } }),
    'messages[0].content[1].image_url.url: must be the base64 of an image',
  ),
  row(
    'a PDF',
    '/chat/completions',
    chatParts({ type: 'image_url', image_url: { url: PNG_OF(PDF) } }),
    'messages[0].content[0].image_url.url: must be the base64 of an image, not application/pdf',
  ),
  row(
    'text that says so',
    '/chat/completions',
    chatParts({ type: 'image_url', image_url: { url: 'data:text/plain;base64,aGVsbG8=' } }),
    'messages[0].content[0].image_url.url: must be a data URL of an image',
  ),
  row(
    'nothing',
    '/chat/completions',
    chatParts({ type: 'image_url', image_url: { url: PNG_OF('') } }),
    'messages[0].content[0].image_url.url: must be the base64 of an image',
  ),
  row(
    'a word',
    '/chat/completions',
    chatParts({ type: 'image_url', image_url: 'picture' }),
    'messages[0].content[0].image_url: must be an https URL or a data URL',
  ),
  row(
    'an address of this machine',
    '/chat/completions',
    chatParts({ type: 'image_url', image_url: { url: 'http://127.0.0.1/x.png' } }),
    'messages[0].content[0].image_url.url: ',
  ),
  row(
    'words',
    '/responses',
    itemParts({ type: 'input_image', image_url: PNG_OF(WORDS) }),
    'input[0].content[0].image_url: must be the base64 of an image',
  ),
  row(
    'words that a tool gave',
    '/responses',
    items(itemCall, {
      type: 'function_call_output',
      call_id: 'c1',
      output: [{ type: 'input_image', image_url: PNG_OF(WORDS) }],
    }),
    'input[1].output[0].image_url: must be the base64 of an image',
  ),
  row(
    'no address',
    '/responses',
    itemParts({ type: 'input_image' }),
    'input[0].content[0].image_url: is required',
  ),
  row(
    'an address of this machine',
    '/responses',
    itemParts({ type: 'input_image', image_url: 'http://[::1]/x.png' }),
    'input[0].content[0].image_url: ',
  ),
  row(
    'words',
    '/messages',
    blocks(imageBlock(WORDS)),
    'messages[0].content[0].source.data: must be the base64',
  ),
  row(
    'a PDF',
    '/messages',
    blocks(imageBlock(PDF)),
    'messages[0].content[0].source.data: must be the base64',
  ),
  row(
    'text that says so',
    '/messages',
    blocks(imageBlock('aGVsbG8=', 'text/plain')),
    'messages[0].content[0].source.media_type: must be one of',
  ),
  row(
    'an address of this machine',
    '/messages',
    blocks({ type: 'image', source: { type: 'url', url: 'http://localhost/x.png' } }),
    'messages[0].content[0].source.url: ',
  ),
]
