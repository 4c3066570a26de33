// Embedded as text.
declare module '*/browser.js' {
  const text: string
  export default text
}
declare module '*/style.css' {
  const text: string
  export default text
}
