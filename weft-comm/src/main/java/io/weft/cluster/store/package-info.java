// SPDX-License-Identifier: Apache-2.0
/// The job's store (in memory, in a private directory, or over TCP) and the job's secret. User
/// threads; the server runs a thread for each connection.
@NullMarked
package io.weft.cluster.store;

import org.jspecify.annotations.NullMarked;
