// A shop with a link to the login at each of its 50 products, which Next.js prefetches.
import { headers } from 'next/headers';
import Link from 'next/link';
import { whoIs } from '../people.js';

export default async function Home() {
  const user = whoIs((await headers()).get('cookie'));
  if (user) return <p>You are <b id="user">{user}</b>. <Link href="/signpost/logout">Log out</Link></p>;
  return (
    <ul>
      {Array.from({ length: 50 }, (_, number) => (
        <li key={number}><Link href={`/signpost/login?next=/product/${number}`}>Log in to buy {number}</Link></li>
      ))}
    </ul>
  );
}
