// SPDX-License-Identifier: Apache-2.0
/// Training whose model lies in tables of a parameter server (`--via ps`): what a worker's graph
/// is, its steps, and what comes of them.
@NullMarked
package io.weft.workloads.keyvalue;

import org.jspecify.annotations.NullMarked;
