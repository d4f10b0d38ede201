// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ffm;

import static java.lang.foreign.MemoryLayout.paddingLayout;
import static java.lang.foreign.MemoryLayout.sequenceLayout;
import static java.lang.foreign.MemoryLayout.structLayout;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.SequenceLayout;
import java.lang.foreign.StructLayout;

/// The structures of `infiniband/verbs.h` that this module reads and writes, in the layout of a
/// 64-bit compiler, which has not changed since version 1.1 of the library's interface.
/// `ResourceCheck` compares the beginnings of structures with the library's actual values when a
/// resource is created, so that a library with another layout is rejected.
public final class Structs {

  // The size of glibc's pthread_mutex_t.
  private static final int MUTEX_BYTES = System.getProperty("os.arch").equals("aarch64") ? 48 : 40;

  /// `struct ibv_context`; its table contains the functions of the data path.
  public static final StructLayout CONTEXT =
      structLayout(
          ADDRESS.withName("device"),
          sequenceLayout(11, ADDRESS).withName("ops_before_poll_cq"),
          ADDRESS.withName("poll_cq"),
          ADDRESS.withName("req_notify_cq"),
          sequenceLayout(7, ADDRESS).withName("ops_before_post_srq_recv"),
          ADDRESS.withName("post_srq_recv"),
          sequenceLayout(4, ADDRESS).withName("ops_before_post_send"),
          ADDRESS.withName("post_send"),
          sequenceLayout(6, ADDRESS).withName("ops_after_post_send"),
          JAVA_INT.withName("cmd_fd"),
          JAVA_INT.withName("async_fd"),
          JAVA_INT.withName("num_comp_vectors"),
          paddingLayout(4),
          sequenceLayout(MUTEX_BYTES, JAVA_BYTE).withName("mutex"),
          JAVA_LONG.withName("abi_compat"));

  /// The end of `struct verbs_context`, which precedes its `ibv_context`.
  public static final StructLayout VERBS_CONTEXT_END =
      structLayout(JAVA_LONG.withName("sz")).withName("verbs_context");

  /// The beginning of `struct ibv_device`.
  public static final StructLayout DEVICE =
      structLayout(
          sequenceLayout(2, ADDRESS).withName("ops"),
          JAVA_INT.withName("node_type"),
          JAVA_INT.withName("transport_type"),
          sequenceLayout(64, JAVA_BYTE).withName("name"));

  /// The first part of `struct ibv_device_attr`, up to the last field that is read.
  public static final StructLayout DEVICE_ATTR =
      structLayout(
          sequenceLayout(64, JAVA_BYTE).withName("fw_ver"),
          JAVA_LONG.withName("node_guid"),
          JAVA_LONG.withName("sys_image_guid"),
          JAVA_LONG.withName("max_mr_size"),
          JAVA_LONG.withName("page_size_cap"),
          JAVA_INT.withName("vendor_id"),
          JAVA_INT.withName("vendor_part_id"),
          JAVA_INT.withName("hw_ver"),
          JAVA_INT.withName("max_qp"),
          JAVA_INT.withName("max_qp_wr"),
          JAVA_INT.withName("device_cap_flags"),
          JAVA_INT.withName("max_sge"),
          JAVA_INT.withName("max_sge_rd"),
          JAVA_INT.withName("max_cq"),
          JAVA_INT.withName("max_cqe"),
          JAVA_INT.withName("max_mr"),
          JAVA_INT.withName("max_pd"),
          JAVA_INT.withName("max_qp_rd_atom"),
          JAVA_INT.withName("max_ee_rd_atom"),
          JAVA_INT.withName("max_res_rd_atom"),
          JAVA_INT.withName("max_qp_init_rd_atom"),
          JAVA_INT.withName("max_ee_init_rd_atom"),
          JAVA_INT.withName("atomic_cap"),
          sequenceLayout(11, JAVA_INT).withName("other_limits"),
          JAVA_INT.withName("max_srq"),
          JAVA_INT.withName("max_srq_wr"),
          JAVA_INT.withName("max_srq_sge"),
          paddingLayout(3),
          JAVA_BYTE.withName("phys_port_cnt"),
          paddingLayout(4));

  /// The part of `struct ibv_port_attr` that the exported function fills; later fields are not
  /// read.
  public static final StructLayout PORT_ATTR =
      structLayout(
          JAVA_INT.withName("state"),
          JAVA_INT.withName("max_mtu"),
          JAVA_INT.withName("active_mtu"),
          JAVA_INT.withName("gid_tbl_len"),
          JAVA_INT.withName("port_cap_flags"),
          JAVA_INT.withName("max_msg_sz"),
          JAVA_INT.withName("bad_pkey_cntr"),
          JAVA_INT.withName("qkey_viol_cntr"),
          JAVA_SHORT.withName("pkey_tbl_len"),
          JAVA_SHORT.withName("lid"),
          JAVA_SHORT.withName("sm_lid"),
          sequenceLayout(8, JAVA_BYTE).withName("link_facts"),
          JAVA_BYTE.withName("link_layer"),
          paddingLayout(17));

  /// `struct ibv_gid_entry`.
  public static final StructLayout GID_ENTRY =
      structLayout(
          sequenceLayout(16, JAVA_BYTE).withName("gid"),
          JAVA_INT.withName("gid_index"),
          JAVA_INT.withName("port_num"),
          JAVA_INT.withName("gid_type"),
          JAVA_INT.withName("ndev_ifindex"));

  /// `struct ibv_pd`.
  public static final StructLayout PD =
      structLayout(ADDRESS.withName("context"), JAVA_INT.withName("handle"), paddingLayout(4));

  /// `struct ibv_mr`.
  public static final StructLayout MR =
      structLayout(
          ADDRESS.withName("context"),
          ADDRESS.withName("pd"),
          JAVA_LONG.withName("addr"),
          JAVA_LONG.withName("length"),
          JAVA_INT.withName("handle"),
          JAVA_INT.withName("lkey"),
          JAVA_INT.withName("rkey"),
          paddingLayout(4));

  /// `struct ibv_comp_channel`.
  public static final StructLayout CHANNEL =
      structLayout(
          ADDRESS.withName("context"), JAVA_INT.withName("fd"), JAVA_INT.withName("refcnt"));

  /// The beginning of `struct ibv_cq`.
  public static final StructLayout CQ =
      structLayout(
          ADDRESS.withName("context"),
          ADDRESS.withName("channel"),
          ADDRESS.withName("cq_context"),
          JAVA_INT.withName("handle"),
          JAVA_INT.withName("cqe"));

  /// The beginning of `struct ibv_srq`.
  public static final StructLayout SRQ =
      structLayout(
          ADDRESS.withName("context"),
          ADDRESS.withName("srq_context"),
          ADDRESS.withName("pd"),
          JAVA_INT.withName("handle"),
          paddingLayout(4));

  /// `struct ibv_srq_init_attr`, including its `ibv_srq_attr`.
  public static final StructLayout SRQ_INIT_ATTR =
      structLayout(
          ADDRESS.withName("srq_context"),
          JAVA_INT.withName("max_wr"),
          JAVA_INT.withName("max_sge"),
          JAVA_INT.withName("srq_limit"),
          paddingLayout(4));

  /// The beginning of `struct ibv_qp`.
  public static final StructLayout QP =
      structLayout(
          ADDRESS.withName("context"),
          ADDRESS.withName("qp_context"),
          ADDRESS.withName("pd"),
          ADDRESS.withName("send_cq"),
          ADDRESS.withName("recv_cq"),
          ADDRESS.withName("srq"),
          JAVA_INT.withName("handle"),
          JAVA_INT.withName("qp_num"),
          JAVA_INT.withName("state"),
          JAVA_INT.withName("qp_type"));

  /// `struct ibv_qp_init_attr`.
  public static final StructLayout QP_INIT_ATTR =
      structLayout(
          ADDRESS.withName("qp_context"),
          ADDRESS.withName("send_cq"),
          ADDRESS.withName("recv_cq"),
          ADDRESS.withName("srq"),
          JAVA_INT.withName("max_send_wr"),
          JAVA_INT.withName("max_recv_wr"),
          JAVA_INT.withName("max_send_sge"),
          JAVA_INT.withName("max_recv_sge"),
          JAVA_INT.withName("max_inline_data"),
          JAVA_INT.withName("qp_type"),
          JAVA_INT.withName("sq_sig_all"),
          paddingLayout(4));

  /// `struct ibv_qp_attr`, including its `ibv_ah_attr`.
  public static final StructLayout QP_ATTR =
      structLayout(
          JAVA_INT.withName("qp_state"),
          JAVA_INT.withName("cur_qp_state"),
          JAVA_INT.withName("path_mtu"),
          JAVA_INT.withName("path_mig_state"),
          JAVA_INT.withName("qkey"),
          JAVA_INT.withName("rq_psn"),
          JAVA_INT.withName("sq_psn"),
          JAVA_INT.withName("dest_qp_num"),
          JAVA_INT.withName("qp_access_flags"),
          sequenceLayout(5, JAVA_INT).withName("cap"),
          sequenceLayout(16, JAVA_BYTE).withName("dgid"),
          JAVA_INT.withName("flow_label"),
          JAVA_BYTE.withName("sgid_index"),
          JAVA_BYTE.withName("hop_limit"),
          JAVA_BYTE.withName("traffic_class"),
          paddingLayout(1),
          JAVA_SHORT.withName("dlid"),
          JAVA_BYTE.withName("sl"),
          JAVA_BYTE.withName("src_path_bits"),
          JAVA_BYTE.withName("static_rate"),
          JAVA_BYTE.withName("is_global"),
          JAVA_BYTE.withName("ah_port_num"),
          paddingLayout(1),
          sequenceLayout(32, JAVA_BYTE).withName("alt_ah_attr"),
          JAVA_SHORT.withName("pkey_index"),
          JAVA_SHORT.withName("alt_pkey_index"),
          JAVA_BYTE.withName("en_sqd_async_notify"),
          JAVA_BYTE.withName("sq_draining"),
          JAVA_BYTE.withName("max_rd_atomic"),
          JAVA_BYTE.withName("max_dest_rd_atomic"),
          JAVA_BYTE.withName("min_rnr_timer"),
          JAVA_BYTE.withName("port_num"),
          JAVA_BYTE.withName("timeout"),
          JAVA_BYTE.withName("retry_cnt"),
          JAVA_BYTE.withName("rnr_retry"),
          JAVA_BYTE.withName("alt_port_num"),
          JAVA_BYTE.withName("alt_timeout"),
          paddingLayout(1),
          JAVA_INT.withName("rate_limit"),
          paddingLayout(4));

  /// `struct ibv_sge`.
  public static final StructLayout SGE =
      structLayout(
          JAVA_LONG.withName("addr"), JAVA_INT.withName("length"), JAVA_INT.withName("lkey"));

  /// `struct ibv_recv_wr`.
  public static final StructLayout RECV_WR =
      structLayout(
          JAVA_LONG.withName("wr_id"),
          ADDRESS.withName("next"),
          ADDRESS.withName("sg_list"),
          JAVA_INT.withName("num_sge"),
          paddingLayout(4));

  /// `struct ibv_send_wr` with the fields of remote reads and writes. Of the atomics it has `swap`
  /// and `atomic_rkey`; their `compare_add` occupies 8 bytes from `rkey` on.
  public static final StructLayout SEND_WR =
      structLayout(
          JAVA_LONG.withName("wr_id"),
          ADDRESS.withName("next"),
          ADDRESS.withName("sg_list"),
          JAVA_INT.withName("num_sge"),
          JAVA_INT.withName("opcode"),
          JAVA_INT.withName("send_flags"),
          JAVA_INT.withName("imm_data"),
          JAVA_LONG.withName("remote_addr"),
          JAVA_INT.withName("rkey"),
          paddingLayout(4),
          JAVA_LONG.withName("swap"),
          JAVA_INT.withName("atomic_rkey"),
          sequenceLayout(15, JAVA_INT).withName("other_uses"));

  /// `struct ibv_wc`.
  public static final StructLayout WC =
      structLayout(
          JAVA_LONG.withName("wr_id"),
          JAVA_INT.withName("status"),
          JAVA_INT.withName("opcode"),
          JAVA_INT.withName("vendor_err"),
          JAVA_INT.withName("byte_len"),
          JAVA_INT.withName("imm_data"),
          JAVA_INT.withName("qp_num"),
          JAVA_INT.withName("src_qp"),
          JAVA_INT.withName("wc_flags"),
          JAVA_SHORT.withName("pkey_index"),
          JAVA_SHORT.withName("slid"),
          JAVA_BYTE.withName("sl"),
          JAVA_BYTE.withName("dlid_path_bits"),
          paddingLayout(2));

  /// `struct ibv_async_event`.
  public static final StructLayout ASYNC_EVENT =
      structLayout(
          JAVA_LONG.withName("element"), JAVA_INT.withName("event_type"), paddingLayout(4));

  private Structs() {}

  /// Returns the offset of a field in bytes.
  public static long offset(StructLayout struct, String field) {
    return struct.byteOffset(PathElement.groupElement(field));
  }

  /// Returns the length of an array field in bytes.
  public static long bytes(StructLayout struct, String field) {
    MemoryLayout part = struct.select(PathElement.groupElement(field));
    return part instanceof SequenceLayout array ? array.byteSize() : part.byteSize();
  }
}
