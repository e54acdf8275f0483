import { rmSync, utimesSync, writeFileSync } from 'node:fs';

/** Keeps the mark of a backup beside a queue's file, as long as it is not ended. */
export function keepBackupMark(path: string): () => void {
  const renew = () => {
    writeFileSync(`${path}-backup`, '');
    utimesSync(`${path}-backup`, new Date(), new Date());
  };
  renew();
  const timer = setInterval(renew, 200);
  return () => {
    clearInterval(timer);
    rmSync(`${path}-backup`, { force: true });
  };
}
