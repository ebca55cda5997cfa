# A client of the Perl module Net::SMPP: binds to the SMPP server at the given host and port, submits one
# text, waits for its receipt, asks for its state, unbinds, and prints the id of the message.
use strict;
use warnings;
use Net::SMPP;

my ($host, $port, $system_id, $password, $sender, $recipient) = @ARGV;
my ($client, $bound) = Net::SMPP->new_transceiver(
    $host,
    port => $port,
    system_id => $system_id,
    password => $password,
);
die "no connection: $!" unless $client;
die 'bind refused: ', $bound->explain_status unless $bound->status == 0;

my $sent = $client->submit_sm(
    source_addr_ton => 5,
    source_addr_npi => 0,
    source_addr => $sender,
    dest_addr_ton => 1,
    dest_addr_npi => 1,
    destination_addr => $recipient,
    short_message => 'Kedu?',
    registered_delivery => 1,
) or die 'no answer';
die 'submit refused: ', $sent->explain_status unless $sent->status == 0;
my $id = $sent->{message_id};

my $receipt = $client->read_pdu or die 'no receipt';
my $text = $receipt->{short_message};
die "another text: $text" unless $text =~ /^id:\Q$id\E / && $text =~ / stat:DELIVRD /;
die 'another id' unless $receipt->{receipted_message_id} =~ /^\Q$id\E\0?$/;
$client->deliver_sm_resp(seq => $receipt->{seq}, message_id => '');

my $state = $client->query_sm(
    message_id => $id,
    source_addr_ton => 5,
    source_addr_npi => 0,
    source_addr => $sender,
) or die 'no state';
die "another state: $state->{message_state}" unless $state->{message_state} == 2;
print "$id\n";
$client->unbind;
