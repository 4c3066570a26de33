/** A provider of each dialect with a wire of its own, all at one address; model ids are `in-<dialect>`. */
export const filteredProviders = (base_url: string, model: object) => [
  { slug: 'c', base_url, dialect: 'chat', models: [{ id: 'in-chat', ...model }] },
  { slug: 'm', base_url, dialect: 'messages', models: [{ id: 'in-messages', ...model }] },
  { slug: 'r', base_url, dialect: 'responses', models: [{ id: 'in-responses', ...model }] },
]
