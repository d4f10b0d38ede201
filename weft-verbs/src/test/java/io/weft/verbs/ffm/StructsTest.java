// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.StructLayout;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks sizes and offsets against the output of `offsetof` of a C compiler for x86-64 for
/// `infiniband/verbs.h` of rdma-core 44.
@EnabledIfSystemProperty(named = "os.arch", matches = "amd64|x86_64")
class StructsTest {

  private record Facts(String name, StructLayout struct, long bytes, Map<String, Integer> offsets) {
    @Override
    public String toString() {
      return name;
    }
  }

  static List<Facts> facts() {
    return List.of(
        new Facts(
            "ibv_context",
            Structs.CONTEXT,
            328,
            Map.of(
                "poll_cq", 96,
                "req_notify_cq", 104,
                "post_srq_recv", 168,
                "post_send", 208,
                "cmd_fd", 264,
                "async_fd", 268,
                "num_comp_vectors", 272,
                "abi_compat", 320)),
        new Facts(
            "ibv_device_attr",
            Structs.DEVICE_ATTR,
            232,
            Map.of(
                "max_mr_size", 80,
                "max_qp", 108,
                "max_qp_wr", 112,
                "max_cqe", 132,
                "max_qp_rd_atom", 144,
                "max_srq", 212,
                "max_srq_wr", 216,
                "phys_port_cnt", 227)),
        new Facts(
            "ibv_port_attr",
            Structs.PORT_ATTR,
            64,
            Map.of(
                "active_mtu", 8, "gid_tbl_len", 12, "max_msg_sz", 20, "lid", 34, "link_layer", 46)),
        new Facts("ibv_gid_entry", Structs.GID_ENTRY, 32, Map.of("gid_index", 16, "gid_type", 24)),
        new Facts("ibv_pd", Structs.PD, 16, Map.of("handle", 8)),
        new Facts(
            "ibv_mr",
            Structs.MR,
            48,
            Map.of("pd", 8, "addr", 16, "length", 24, "lkey", 36, "rkey", 40)),
        new Facts("ibv_comp_channel", Structs.CHANNEL, 16, Map.of("fd", 8)),
        new Facts("ibv_cq", Structs.CQ, 32, Map.of("channel", 8, "cqe", 28)),
        new Facts("ibv_srq", Structs.SRQ, 32, Map.of("pd", 16, "handle", 24)),
        new Facts("ibv_srq_init_attr", Structs.SRQ_INIT_ATTR, 24, Map.of("max_wr", 8)),
        new Facts(
            "ibv_qp",
            Structs.QP,
            64,
            Map.of("pd", 16, "send_cq", 24, "recv_cq", 32, "srq", 40, "qp_num", 52, "state", 56)),
        new Facts(
            "ibv_qp_init_attr",
            Structs.QP_INIT_ATTR,
            64,
            Map.of(
                "send_cq", 8, "srq", 24, "max_send_wr", 32, "max_inline_data", 48, "qp_type", 52)),
        new Facts(
            "ibv_qp_attr",
            Structs.QP_ATTR,
            144,
            Map.of(
                "rq_psn", 20,
                "dest_qp_num", 28,
                "dgid", 56,
                "sgid_index", 76,
                "dlid", 80,
                "is_global", 85,
                "max_rd_atomic", 126,
                "min_rnr_timer", 128,
                "port_num", 129,
                "rnr_retry", 132)),
        new Facts("ibv_sge", Structs.SGE, 16, Map.of("length", 8, "lkey", 12)),
        new Facts("ibv_recv_wr", Structs.RECV_WR, 32, Map.of("sg_list", 16, "num_sge", 24)),
        new Facts(
            "ibv_send_wr",
            Structs.SEND_WR,
            128,
            Map.of(
                "opcode", 28,
                "send_flags", 32,
                "imm_data", 36,
                "remote_addr", 40,
                "rkey", 48,
                "swap", 56,
                "atomic_rkey", 64)),
        new Facts(
            "ibv_wc",
            Structs.WC,
            48,
            Map.of(
                "status", 8,
                "opcode", 12,
                "vendor_err", 16,
                "byte_len", 20,
                "imm_data", 24,
                "qp_num", 28)),
        new Facts("ibv_async_event", Structs.ASYNC_EVENT, 16, Map.of("event_type", 8)));
  }

  @ParameterizedTest
  @MethodSource("facts")
  void theLayoutMatchesTheCompilers(Facts facts) {
    assertThat(facts.struct().byteSize()).isEqualTo(facts.bytes());
    facts
        .offsets()
        .forEach(
            (field, offset) ->
                assertThat(Structs.offset(facts.struct(), field))
                    .as(field)
                    .isEqualTo(offset.longValue()));
  }

  @Test
  void theLengthOfAnArrayIsKnown() {
    assertThat(Structs.bytes(Structs.DEVICE, "name")).isEqualTo(64);
    assertThat(Structs.offset(Structs.DEVICE, "name")).isEqualTo(24);
  }
}
