// SPDX-License-Identifier: Apache-2.0
/// The members of the job. The environment, the job's store, the topology and the process sets are
/// for user threads. The mesh with its services and tokens is confined to the progress thread.
@NullMarked
package io.weft.cluster;

import org.jspecify.annotations.NullMarked;
