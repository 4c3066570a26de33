export const FUNCTION = { type: 'function', name: 'tide', parameters: { type: 'object', properties: {} } }
