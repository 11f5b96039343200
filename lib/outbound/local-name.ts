/** No public name ends like these: special-use names (RFC 6761), and those of home, company, cluster and container networks. */
const LOCAL_NAME =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|lan|home|corp|mail|workgroup|svc|cluster|consul|nomad|docker|containers?|podman|kube|mesh|arpa|onion|i2p|alt|test|invalid)$/;

export const isLocalName = (hostname: string): boolean => LOCAL_NAME.test(hostname);
