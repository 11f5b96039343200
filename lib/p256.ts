/** The order of the curve P-256. A private key is a number from 1 to one less than the order. */
export const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
