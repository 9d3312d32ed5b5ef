/** The style sheet of the documentation. Colours follow the reader's light or dark scheme. */
export const DOCS_PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #ffffff; --side: #f7f8fa; --code: #f5f6f8; --line: #e3e6eb; --text: #1c2430; --soft: #5b6676;
  --link: #0b62b8; --accent: #0b7a75; --must: #a3420f; --post: #0b7a75; --get: #3b5bdb;
  --key: #0b5a8a; --str: #2e6b34; --lit: #8a3b12; --mark: #fff5cf;
  --mono: ui-monospace, 'SF Mono', SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #11151b; --side: #151a22; --code: #191f29; --line: #29313d; --text: #dfe5ee; --soft: #97a3b4;
    --link: #6cb2f5; --accent: #4fc4bb; --must: #f0a26f; --post: #4fc4bb; --get: #9db2ff;
    --key: #86c1f0; --str: #98d19d; --lit: #f0b48a; --mark: #3a3415;
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
p code, .why code { background: var(--code); border: 1px solid var(--line); border-radius: 4px; padding: .05em .3em; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: .5rem; z-index: 3; background: var(--ground); padding: .5rem; }

header { position: sticky; top: 0; z-index: 2; display: flex; gap: 1rem; align-items: baseline; height: 3.5rem;
  line-height: 3.5rem; padding: 0 1.5rem; background: var(--ground); border-bottom: 1px solid var(--line); white-space: nowrap; }
.brand { font-weight: 700; font-size: 1.1rem; color: var(--text); letter-spacing: -.01em; }
.brand span { color: var(--accent); }
.tagline { color: var(--soft); overflow: hidden; text-overflow: ellipsis; }
.download { margin-left: auto; font-family: var(--mono); font-size: .85rem; }

.page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 100rem; margin: 0 auto; }
#menu, .menu { display: none; }
nav { position: sticky; top: 3.5rem; height: calc(100vh - 3.5rem); overflow-y: auto; padding: 1.25rem .5rem 3rem 1.5rem;
  background: var(--side); border-right: 1px solid var(--line); font-size: .88rem; }
nav h2 { margin: 1.1rem 0 .3rem; font-size: .74rem; letter-spacing: .06em; text-transform: uppercase; }
nav h2:first-child { margin-top: 0; }
nav h2 a { color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: .17rem .6rem; margin-left: -.6rem; border-radius: 5px; color: var(--text); overflow-wrap: anywhere; }
nav li a:hover { background: var(--line); text-decoration: none; }

main { padding: 1.5rem 2.5rem 6rem; min-width: 0; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: .5rem 0 1rem; letter-spacing: -.02em; }
.tag { font-size: 1.5rem; margin: 3rem 0 .25rem; letter-spacing: -.015em; }
.lead { color: var(--soft); font-size: 1.02rem; margin-bottom: 1.25rem; }
.operation { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); gap: 0 2.5rem;
  padding: 2rem 0; border-top: 1px solid var(--line); }
#introduction { border-top: 0; padding-top: 0; }
.operation h3, .error h3 { font-size: 1.2rem; margin: 0 0 .5rem; letter-spacing: -.01em; }
h3 a { color: var(--text); }
h4 { margin: 1.6rem 0 .5rem; font-size: .95rem; }
h4 .type { font-weight: 400; margin-left: .35rem; }
.address { display: flex; flex-wrap: wrap; gap: .35rem .6rem; align-items: center; margin-bottom: .9rem; }
.address code { font-size: .92rem; overflow-wrap: anywhere; background: none; border: 0; padding: 0; }
.method { font: 700 .74rem/1 var(--mono); padding: .32rem .45rem; border-radius: 5px; border: 1px solid currentColor; }
.method.post { color: var(--post); }
.method.get { color: var(--get); }
.scope { margin-left: auto; color: var(--soft); font-size: .82rem; border: 1px solid var(--line); border-radius: 99px; padding: .02rem .65rem; }
.summary { font-weight: 600; }

.examples { position: sticky; top: 4.5rem; align-self: start; max-height: calc(100vh - 5.5rem); display: flex; flex-direction: column; gap: 1rem; min-width: 0; }
figure { margin: 0; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; background: var(--code);
  display: flex; flex-direction: column; min-height: 5.5rem; }
figcaption { padding: .4rem .9rem; font-size: .76rem; font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--line); }
pre { margin: 0; padding: .8rem .9rem; overflow: auto; line-height: 1.5; tab-size: 2; }
pre code { font-size: .8rem; }
.key { color: var(--key); } .str { color: var(--str); } .lit { color: var(--lit); }

.fields, .errors { list-style: none; margin: 0; padding: 0; }
.fields > li { border-top: 1px solid var(--line); }
.prose > .fields > li:last-child, .either > .fields > li:last-child { border-bottom: 1px solid var(--line); }
.field { display: grid; grid-template-columns: minmax(0, 15.5rem) minmax(0, 1fr); gap: .1rem 1rem; padding: .55rem 0; }
.what { overflow-wrap: anywhere; line-height: 1.5; }
.name { font-weight: 600; font-size: .88rem; }
.type, .none { color: var(--soft); font-size: .82rem; }
.required { color: var(--must); font-size: .76rem; font-weight: 600; white-space: nowrap; }
.absent { color: var(--soft); font-size: .76rem; font-style: italic; white-space: nowrap; }
.why { font-size: .9rem; line-height: 1.5; overflow-wrap: anywhere; }
.rules { display: flex; flex-wrap: wrap; gap: .3rem; margin-top: .3rem; }
.rule, .choice { font-size: .76rem; border: 1px solid var(--line); border-radius: 4px; padding: 0 .4rem; color: var(--soft); background: var(--side); overflow-wrap: anywhere; }
.choice { color: var(--text); }
.inner { margin: 0 0 .6rem .25rem; padding-left: 1rem; border-left: 2px solid var(--line); }
.inner > .fields > li:first-child { border-top: 0; }
.inner .field { grid-template-columns: minmax(0, 14.25rem) minmax(0, 1fr); }
.either + .either { margin-top: 1rem; }
.label { font-weight: 600; font-size: .82rem; color: var(--soft); }
summary { cursor: pointer; color: var(--link); font-size: .84rem; padding: .2rem 0; width: max-content; max-width: 100%; }
.errors li { padding: .16rem 0; font-size: .88rem; overflow-wrap: anywhere; }
.errors a, .error h3 a { font-family: var(--mono); font-size: .84rem; }
.errors .why { color: var(--soft); font-size: .84rem; }
.status { font: 600 .78rem var(--mono); color: var(--must); }
.error { padding: 1.1rem 1rem; margin: 0 -1rem; border-top: 1px solid var(--line); border-radius: 6px; max-width: 60rem; }
.error h3 a { font-size: 1rem; }
.error .summary { margin-bottom: .25rem; }
.error p { margin-bottom: .35rem; }
.error pre { background: var(--code); border: 1px solid var(--line); border-radius: 8px; margin-top: .4rem; }
.error:target { background: var(--mark); }
.operation:target h3 a { box-shadow: inset 0 -.5em var(--mark); }

@media (max-width: 78rem) {
  .operation { grid-template-columns: minmax(0, 1fr); }
  .examples { position: static; max-height: none; margin-top: 1.5rem; }
  figure pre { max-height: 28rem; }
}
@media (max-width: 52rem) {
  html { scroll-padding-top: 4rem; }
  header { padding: 0 1rem; height: 3rem; line-height: 3rem; }
  .tagline { display: none; }
  .page { display: block; }
  .menu { display: block; padding: .6rem 1rem; background: var(--side); border-bottom: 1px solid var(--line); color: var(--link); font-weight: 600; cursor: pointer; }
  .menu::before { content: '\\2630'; margin-right: .6rem; }
  #menu { display: block; position: absolute; opacity: 0; pointer-events: none; }
  #menu:focus-visible + .menu { outline: 2px solid var(--link); outline-offset: -2px; }
  nav { display: none; position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: .5rem 1rem 1.5rem; columns: 15rem; }
  #menu:checked ~ nav { display: block; }
  nav li a { padding: .35rem .6rem; }
  main { padding: 1rem 1rem 4rem; }
  .scope { margin-left: 0; }
  .field, .inner .field { grid-template-columns: minmax(0, 1fr); }
  .inner { padding-left: .8rem; }
}
@media print {
  header, nav, .menu { position: static; }
  nav, .menu { display: none; }
  .page { display: block; }
  .operation { grid-template-columns: minmax(0, 1fr); }
  .examples { position: static; max-height: none; }
}
`;
