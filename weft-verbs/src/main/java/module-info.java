// SPDX-License-Identifier: Apache-2.0
/// RDMA through libibverbs, without code in C: devices, registered memory, queue pairs. Needs
/// native access.
@org.jspecify.annotations.NullMarked
module io.weft.verbs {
  requires static transitive org.jspecify;
  requires transitive io.weft.transport;

  exports io.weft.verbs.device;
  exports io.weft.verbs.ffm;
}
