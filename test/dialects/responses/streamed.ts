export const BEGIN = ['created', 'in_progress']

/** The events that close a message of one text. */
export const TEXT_END = ['output_text.done', 'content_part.done', 'output_item.done']
