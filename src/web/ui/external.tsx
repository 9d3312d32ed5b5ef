/** A link that came with data: only web addresses are followed. */
export function External({ url, children }: { readonly url: string; readonly children: string }) {
  if (!/^https?:\/\//i.test(url)) return <span>{url}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}
