/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ipvs-load.c and ipvs-test.c share this: a virtual service of IPVS for UDP, on this machine
 */
#include <arpa/inet.h>
#include <linux/ip_vs.h>
#include <sys/socket.h>

#include "guest.h"

#define VIRTUAL_PORT	1000
#define REAL_PORT	2000

/* guest/kernel.sh has run `ip address add 10.0.0.1/32 dev lo`. */
static struct sockaddr_in address_of(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(0x0a000001) };
}

/*
 * Packets to VIRTUAL_PORT go to REAL_PORT. A connection expires @timeout seconds after its
 * last packet. Returns the socket that receives the packets.
 */
static int open_service(int timeout)
{
	struct {
		struct ip_vs_service_user service;
		struct ip_vs_dest_user server;
	} arg = {
		.service = { .protocol = IPPROTO_UDP, .addr = htonl(0x0a000001),
			     .port = htons(VIRTUAL_PORT), .sched_name = "rr",
			     .netmask = htonl(INADDR_BROADCAST) },
		.server = { .addr = htonl(0x0a000001), .port = htons(REAL_PORT),
			    .conn_flags = IP_VS_CONN_F_MASQ, .weight = 1 },
	};
	struct ip_vs_timeout_user timeouts = { .udp_timeout = timeout };
	struct sockaddr_in address = address_of(REAL_PORT);
	int control = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	int server = socket(AF_INET, SOCK_DGRAM, 0);

	if (control < 0 || server < 0 ||
	    bind(server, (struct sockaddr *)&address, sizeof(address)))
		die("sockets of the service");
	if (setsockopt(control, IPPROTO_IP, IP_VS_SO_SET_ADD, &arg, sizeof(arg.service)) ||
	    setsockopt(control, IPPROTO_IP, IP_VS_SO_SET_ADDDEST, &arg, sizeof(arg)) ||
	    setsockopt(control, IPPROTO_IP, IP_VS_SO_SET_TIMEOUT, &timeouts, sizeof(timeouts)))
		die("the service");
	close(control);
	return server;
}
