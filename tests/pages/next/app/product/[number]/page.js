import { headers } from 'next/headers';
import { whoIs } from '../../../people.js';

export default async function Product({ params }) {
  const { number } = await params;
  return <p>Product {number} for <b id="user">{whoIs((await headers()).get('cookie'))}</b></p>;
}
