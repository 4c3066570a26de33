/** The build without a parser of its own: pages are parsed already. */
declare module 'turndown/lib/turndown.browser.es.js' {
  export { default } from 'turndown'
}
