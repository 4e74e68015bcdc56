// LNURL-auth with the npm package `lnurl`, like its README: an Express route returns a code, and the package's server
// accepts the signed callback. All data is in memory.
import express from 'express';
import lnurl from 'lnurl';

const codes = lnurl.createServer({ endpoint: '/lnurl', listen: false, store: { backend: 'memory' } });
const app = express();
app.get('/new', async (request, response) => {
  const { secret } = await codes.generateNewUrl('login');
  response.json({ k1: secret });
});
app.use(codes.app);
app.listen(0, '127.0.0.1', function () {
  console.log(`http://127.0.0.1:${this.address().port}/`);
});
