// SPDX-License-Identifier: Apache-2.0
/// Who is in the job: environment, the job's store, topology and process sets, for user threads;
/// and the mesh with its services and tokens, confined to the progress thread.
@NullMarked
package io.weft.cluster;

import org.jspecify.annotations.NullMarked;
