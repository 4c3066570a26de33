const root = document.documentElement
const theme = document.querySelector('#theme')
const stored = localStorage.getItem('theme')
if (stored) root.dataset.theme = stored
theme?.addEventListener('click', () => {
  const isDark = root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches
  root.dataset.theme = isDark ? 'light' : 'dark'
  localStorage.setItem('theme', root.dataset.theme)
})

const SHOWN = 12
const SNIPPET = 120
/** Characters of the snippet before the first word that was found. */
const BEFORE = 40
const { index } = document.currentScript?.dataset ?? {}
const input = document.querySelector('#search')
const results = document.querySelector('#results')
let sections = null

async function load() {
  sections ??= fetch(index).then(async (reply) => {
    const list = await reply.json()
    return list.map((one) => ({
      ...one,
      head: `${one.page} ${one.heading}`.toLowerCase(),
      body: one.text.toLowerCase(),
    }))
  })
  return await sections
}

/** Every word must be there; words of headings count most, then those at the beginning of a word. */
function scoreOf(section, words) {
  let score = 0
  for (const word of words) {
    if (section.head.includes(word)) score += 10
    else if (!section.body.includes(word)) return 0
    score += ` ${section.body}`.includes(` ${word}`) ? 2 : 1
  }
  return score
}

function row(section, words) {
  const link = document.createElement('a')
  link.href = `${index.replace('search.json', '')}${section.at}`
  const title = document.createElement('strong')
  title.textContent = section.heading === section.page ? section.page : `${section.page} › ${section.heading}`
  const first = section.body.indexOf(words.find((word) => section.body.includes(word)) ?? '')
  const at = first < BEFORE ? 0 : section.text.lastIndexOf(' ', first - BEFORE / 2) + 1
  const text = document.createElement('span')
  text.textContent = `${at > 0 ? '…' : ''}${section.text.slice(at, at + SNIPPET)}`
  link.append(title, text)
  return link
}

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
  const list = await load()
  const found = list
    .map((section) => ({ section, score: words.length === 0 ? 0 : scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, SHOWN)
  results.replaceChildren(...found.map(({ section }) => row(section, words)))
  if (words.length > 0 && found.length === 0) results.textContent = 'No page has these words.'
  results.hidden = words.length === 0
}

input?.addEventListener('focus', load)
input?.addEventListener('input', search)
document.addEventListener('click', ({ target }) => {
  if (!target.closest('search')) results.hidden = true
})
document.addEventListener('keydown', (event) => {
  const { key } = event
  if (key === '/' && document.activeElement === document.body) {
    event.preventDefault()
    input.focus()
  }
  if (key === 'Escape') results.hidden = true
  if (results.hidden || (key !== 'ArrowDown' && key !== 'ArrowUp' && key !== 'Enter')) return
  const links = [...results.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement)
  if (key === 'Enter' && at < 0) links[0]?.click()
  if (key === 'Enter') return
  event.preventDefault()
  const next = key === 'ArrowDown' ? at + 1 : at - 1
  if (next < 0) input.focus()
  else links[next]?.focus()
})
