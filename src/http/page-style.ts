/** The style sheet of pages for people. Colours follow the reader's light or dark scheme. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #ffffff; --code: #f5f6f8; --line: #e3e6eb; --text: #1c2430; --link: #0b62b8; --accent: #0b7a75; --mark: #fff5cf;
  --mono: ui-monospace, 'SF Mono', SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #11151b; --code: #191f29; --line: #29313d; --text: #dfe5ee; --link: #6cb2f5; --accent: #4fc4bb; --mark: #3a3415;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 15px/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
p { margin: 0 0 .75rem; }
code, pre { font-family: var(--mono); font-size: .86em; }
p code, li code { background: var(--code); border: 1px solid var(--line); border-radius: 4px; padding: .05em .3em; }
header { position: sticky; top: 0; z-index: 2; display: flex; gap: 1rem; align-items: baseline; height: 3.5rem;
  line-height: 3.5rem; padding: 0 1.5rem; background: var(--ground); border-bottom: 1px solid var(--line); white-space: nowrap; }
.brand { font-weight: 700; font-size: 1.1rem; color: var(--text); }
.brand span { color: var(--accent); }
.download { margin-left: auto; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: .5rem 0 1rem; }
h2 { font-size: 1.5rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1.2rem; margin: 1.6rem 0 .5rem; }
article { border-top: 1px solid var(--line); }
article:target h3 { background: var(--mark); }
.guide { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1.5rem 6rem; overflow-wrap: break-word; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto; }
table { display: block; overflow-x: auto; border-collapse: collapse; margin-bottom: 1rem; }
th, td { border: 1px solid var(--line); padding: .4rem .7rem; text-align: left; vertical-align: top; }
img { max-width: 100%; }
`;
