/** The order of the group of P-256. A private key is a number from 1 up to, and without, it. */
export const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
