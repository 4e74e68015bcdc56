import { dirname } from 'node:path';

// The packages are in the parent folder. Next.js would choose the folder of the outermost lock file.
const root = dirname(import.meta.dirname);
export default { turbopack: { root }, outputFileTracingRoot: root };
